/** Tools of the tool server: operations, agents and workflows, called by the official client (docs/reference/mcp.md). */
import { beforeAll, describe, expect, test } from "bun:test";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { say } from "../../harness/manifests.ts";
import type { NodeProcess } from "../../harness/node/node-process.ts";
import type { TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { callTool, connect, type Deploy, eras, type FaceClientOptions } from "./fixture.ts";

export function toolTests(nodes: () => readonly NodeProcess[], deploy: Deploy, sql: () => TestStores["sql"]): void {
  const node = (): NodeProcess => nodes()[0] as NodeProcess;
  const call = (name: string, given: Record<string, unknown>, options: FaceClientOptions = {}) =>
    callTool(nodes(), name, given, options);
  const statusOf = async (id: string) => (await node().call("GET", `/v1/executions/${id}`)).body.status;

  async function namesFor(options: FaceClientOptions = {}) {
    const { client } = await connect(nodes(), "modern", options);
    const { tools } = await client.listTools();
    await client.close();
    return tools.map(({ name }) => name);
  }

  describe("the list of tools", () => {
    test.each([...eras])("%s: operations, agents and workflows with their schemas", async (era) => {
      const { client } = await connect(nodes(), era);
      const { tools } = await client.listTools();
      const byName = new Map(tools.map((tool) => [tool.name, tool]));
      expect([...byName.keys()]).toContain("svc_workflow_signal");
      expect([...byName.keys()]).toContain("svc_workflow_wait");
      expect(Object.keys(byName.get("run_speaker")?.inputSchema.properties ?? {})).toEqual([
        "topic",
        "wait_seconds",
        "cancel_on_disconnect",
      ]);
      expect(byName.get("run_sleeper")?.inputSchema).toMatchObject({ required: ["input"] });
      expect(byName.get("run_workflow_asker")).toMatchObject({ description: "Asks as asker" });
      // Those of a sandbox need an execution; other tool servers' are not passed on.
      expect(tools.filter(({ name }) => !/^(svc|run)_/.test(name))).toEqual([]);
      await client.close();
    });

    test("who may not start executions has no tools that run something", async () => {
      const readonly = await node().token({ role: "readonly", sub: "reader" });
      const names = await namesFor({ token: readonly });
      expect(names).toContain("svc_workflow_list");
      expect(names.filter((name) => name.startsWith("run_") || name === "svc_workflow_run")).toEqual([]);
      expect(await call("run_speaker", { topic: "x" }, { token: readonly })).toMatchObject({ isError: true });
    });

    test("a tenant's own agent hides the global one of its name", async () => {
      await deploy({ name: "shared", script: [say("global")] }, "?scope=global");
      const token = await node().token({ username: "ann" }, "tenant-acme");
      expect(await call("run_shared", { input: "x" }, { token })).toMatchObject({ body: { output: "global" } });
      await deploy({ name: "shared", script: [say("own")] }, "", { Authorization: `Bearer ${token}` });
      const names = await namesFor({ token });
      expect(names.filter((name) => name === "run_shared")).toHaveLength(1);
      expect(names).not.toContain("run_speaker");
      expect(await call("run_shared", { input: "x" }, { token })).toMatchObject({ body: { output: "own" } });
    });
  });

  describe("security contexts", () => {
    const named = (context: string) => ({ headers: { "X-Svc-Security-Context": context } });
    beforeAll(async () => {
      const capabilities = [{ tool_pattern: "svc.*" }];
      await node().call("POST", "/v1/security-contexts", { name: "no-runs", capabilities, deny_list: ["svc.task.*"] });
      await node().call("POST", "/v1/security-contexts", {
        name: "theirs",
        capabilities,
        usable_by: ["user:nobody-here"],
      });
    });

    test("what the named context refuses is not listed and not run", async () => {
      const names = await namesFor(named("no-runs"));
      expect(names).toContain("run_workflow_asker");
      expect(names.filter((name) => name.startsWith("run_sp") || name.startsWith("svc_task"))).toEqual([]);
      expect(await call("run_speaker", { topic: "x" }, named("no-runs"))).toMatchObject({
        isError: true,
        body: { code: "tool_denied", error_code: 2001 },
      });
    });

    test("a context that is not there, or not for the caller, is refused", async () => {
      await expect(call("svc_workflow_list", {}, named("none"))).rejects.toThrow("no such security context");
      await expect(namesFor(named("theirs"))).rejects.toThrow("may not use");
    });
  });

  describe("run_<agent>", () => {
    test.each([...eras])("%s: progress on the way, the result at the end", async (era) => {
      const { client } = await connect(nodes(), era);
      const lines: string[] = [];
      const onprogress = ({ message = "" }: { message?: string | undefined }) => void lines.push(message);
      const result = (await client.callTool(
        { name: "run_speaker", arguments: { topic: "the week" } },
        { onprogress },
      )) as CallToolResult;
      expect(result.structuredContent).toMatchObject({ status: "completed", output: "spoken", agent_name: "speaker" });
      expect(JSON.parse((result.content[0] as { text: string }).text)).toEqual(result.structuredContent);
      expect(lines).toContain("execution started");
      expect(lines.some((line) => line.includes("tool call started cmd.run"))).toBe(true);
      await client.close();
    });

    test("wait_seconds 1 gives the id of an execution that goes on", async () => {
      const { isError, body } = await call("run_sleeper", { input: "x", wait_seconds: 1 });
      expect([isError, body]).toEqual([false, { execution_id: expect.any(String), status: expect.any(String) }]);
      expect(["pending", "running"]).toContain(await statusOf(body.execution_id));
      await node().call("POST", `/v1/executions/${body.execution_id}/cancel`);
    });

    test("a client that is gone leaves it running, with cancel_on_disconnect cancelled", async () => {
      for (const [cancel_on_disconnect, expected] of [
        [false, "running"],
        [true, "cancelled"],
      ] as const) {
        const { client } = await connect(nodes(), "modern");
        const leave = new AbortController();
        const label = `leaving-${cancel_on_disconnect}`;
        const waits = client.callTool(
          { name: "run_sleeper", arguments: { input: label, cancel_on_disconnect } },
          { signal: leave.signal, onprogress: () => {} },
        );
        waits.catch(() => {});
        const execution = await until(
          async () => {
            const { body } = await node().call("GET", "/v1/executions?limit=5");
            for (const { id, status } of body.items) {
              const record = (await node().call("GET", `/v1/executions/${id}`)).body;
              if (record.input === label && status === "running") return id as string;
            }
            return null;
          },
          { timeoutMs: 30_000, what: "the execution to run" },
        );
        leave.abort();
        await client.close();
        await until(async () => (await statusOf(execution)) === expected, { timeoutMs: 30_000, what: expected });
        if (!cancel_on_disconnect) await node().call("POST", `/v1/executions/${execution}/cancel`);
      }
    });

    test("arguments that do not fit, and an agent that fails, are errors", async () => {
      expect(await call("run_speaker", { topic: 5 })).toMatchObject({ isError: true });
      expect(await call("run_speaker", { topic: "x", wait_seconds: 999 })).toMatchObject({
        isError: true,
        body: { code: "invalid_arguments" },
      });
      expect((await call("run_failing", { input: "x" })).isError).toBe(true);
      await expect(call("run_none", { input: "x" })).rejects.toThrow("Unknown tool");
      await expect(call("svc_none", {})).rejects.toThrow("Unknown tool");
      await expect(call("cmd_run", { command: "ls" })).rejects.toThrow("Unknown tool");
    });
  });

  test("svc_workflow_signal decides nothing: the caller counts as an agent", async () => {
    const { body } = await call("run_workflow_asker", { input: {}, wait_seconds: 1 });
    const { execution_id } = body;
    await until(async () => {
      const run = (await node().call("GET", `/v1/workflows/executions/${execution_id}`)).body;
      return run.waiting_for !== null;
    });
    const answer = await call("svc_workflow_signal", { execution_id, response: "approved" });
    expect(answer).toMatchObject({ isError: true, body: { code: "approver_not_allowed" } });
    expect((await node().call("GET", `/v1/workflows/executions/${execution_id}`)).body.status).toBe("running");
  });

  test("more calls than a caller may try are refused, and nothing is run", async () => {
    const options = { token: await node().token({ username: "many" }, "tenant-many") };
    expect(await call("svc_workflow_list", {}, options)).toMatchObject({ body: { status: "success" } });
    // As after a burst; how fast this machine calls says nothing then.
    await sql()`update tool_call_attempts set attempts_left = -10000 where tenant = 'many'`;
    expect(await call("svc_workflow_list", {}, options)).toMatchObject({
      isError: true,
      body: { error_code: 2005, limit_source: "session" },
    });
  });
}
