/** Tools of the tool server: operations, agents and workflows, called by the official client (docs/reference/mcp.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { LooseJson } from "../../harness/loose-json.ts";
import { manifest, say, shell } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { connect, type Era, eras, type FaceClientOptions } from "./fixture.ts";

let stores: TestStores;
let nodes: NodeProcess[];
beforeAll(async () => {
  stores = await freshStores();
  const first = await startNodeProcess(stores);
  nodes = [first, await startNodeProcess(stores, { dataDir: first.dataDir })];
  const inputSchema = { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] };
  await deploy({
    name: "speaker",
    script: [shell("echo working"), say("spoken")],
    spec: { input_schema: inputSchema },
  });
  await deploy({ name: "sleeper", script: [shell("sleep 120"), say("awake")] });
  await deploy({ name: "failing", script: [{ error: "no" }] });
  await node().call("POST", "/v1/workflows", workflow("asker"));
});
afterAll(async () => {
  for (const one of nodes ?? []) await one.dispose();
  await stores?.dispose();
});

const node = (): NodeProcess => nodes[0] as NodeProcess;
async function deploy(options: Parameters<typeof manifest>[0], query = "", headers: Record<string, string> = {}) {
  const { status, body } = await node().call("POST", `/v1/agents${query}`, manifest(options), headers);
  expect([status, body.code]).toEqual([200, undefined]);
  return body;
}
const workflow = (name: string) => ({
  apiVersion: "svc.dev/v1",
  kind: "Workflow",
  metadata: { name, description: `Asks as ${name}` },
  spec: {
    initial_state: "ASK",
    states: {
      ASK: { kind: "Human", prompt: "?", timeout: "1h", transitions: [{ target: "DONE" }] },
      DONE: { kind: "System", command: "noop", transitions: [] },
    },
  },
});

/** Calls a tool and gives its structured result. */
async function call(
  name: string,
  given: Record<string, unknown>,
  options: FaceClientOptions = {},
  era: Era = "modern",
) {
  const { client } = await connect(nodes, era, options);
  try {
    const result = (await client.callTool({ name, arguments: given })) as CallToolResult;
    return { isError: result.isError ?? false, body: result.structuredContent as LooseJson };
  } finally {
    await client.close();
  }
}
const statusOf = async (id: string) => (await node().call("GET", `/v1/executions/${id}`)).body.status;

async function namesFor(options: FaceClientOptions = {}) {
  const { client } = await connect(nodes, "modern", options);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

describe("the list of tools", () => {
  test.each([...eras])("%s: operations, agents and workflows with their schemas", async (era) => {
    const { client } = await connect(nodes, era);
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
    const { client } = await connect(nodes, era);
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
      const { client } = await connect(nodes, "modern");
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

test("more calls at once than a caller may try are refused, and nothing is run", async () => {
  const token = await node().token({ username: "many" }, "tenant-many");
  const { client } = await connect(nodes, "modern", { token });
  const all = await Promise.all(
    Array.from({ length: 160 }, () => client.callTool({ name: "svc_workflow_list", arguments: {} })),
  );
  await client.close();
  const bodies = all.map(({ structuredContent }) => structuredContent as LooseJson);
  const beyond = bodies.filter(({ error_code }) => error_code === 2005);
  expect(beyond.length).toBeGreaterThan(0);
  for (const body of beyond) expect(body).toMatchObject({ limit_source: "session", isError: true });
  // Of those that were let in, as many run at once as the capability allows.
  const others = bodies.filter((body) => !beyond.includes(body));
  expect(others.length).toBeGreaterThanOrEqual(100);
  for (const { status, error_code } of others) expect(status === "success" || error_code === 2008).toBe(true);
});

describe("calls that wait for a person", () => {
  const named = { headers: { "X-Svc-Security-Context": "asking" } };
  const decide = (id: string, what: "approve" | "reject", body: unknown) =>
    node().call("POST", `/v1/human-approvals/${id}/${what}`, body);
  const read = (invocation_id: string, wait_seconds = 25) =>
    call("svc_invocation_get", { invocation_id, wait_seconds }, named);
  beforeAll(async () => {
    const approval = { editable: true };
    const capabilities = [{ tool_pattern: "svc.task.*", approval }, { tool_pattern: "svc.workflow.*" }];
    const { status } = await node().call("POST", "/v1/security-contexts", { name: "asking", capabilities });
    expect(status).toBe(201);
  });

  test("the pending object is answered, and svc_invocation_get reads on", async () => {
    const { isError, body } = await call("run_speaker", { topic: "x" }, named);
    expect([isError, body]).toMatchObject([false, { status: "pending", code: "approval_pending" }]);
    expect(await read(body.invocation_id, 0)).toEqual({ isError: false, body });
    const shown = (await node().call("GET", `/v1/human-approvals/${body.approval_id}`)).body.request;
    expect(shown).toMatchObject({
      kind: "tool_call",
      tool_call: { tool: "svc.task.execute", arguments: { agent_id: "speaker", input: { topic: "x" } } },
    });
    const edited = { agent_id: "speaker", input: { topic: "edited" } };
    expect((await decide(body.approval_id, "approve", { arguments: edited })).status).toBe(200);
    const { body: after } = await read(body.invocation_id);
    expect(after).toMatchObject({ status: "success", outcome: "success", result: { edited: true } });
    const record = (await node().call("GET", `/v1/executions/${after.result.execution_id}`)).body;
    expect(record).toMatchObject({ input: { topic: "edited" } });
    const invocation = await until(async () => {
      const found = (await node().call("GET", `/v1/tool-invocations/${body.invocation_id}`)).body;
      return found.outcome === "success" ? found : null;
    });
    expect(invocation).toMatchObject({ entry: "mcp", approval_id: body.approval_id });
    expect(invocation.edited_arguments).toMatchObject({ input: { topic: "edited" } });
  });

  test("a rejection is told with its reason, and nothing is run", async () => {
    const { body } = await call("run_speaker", { topic: "no" }, named);
    await decide(body.approval_id, "reject", { reason: "not today" });
    expect((await read(body.invocation_id)).body).toMatchObject({
      outcome: "failed",
      result: { code: "rejected_by_person", reason: "not today" },
    });
  });

  test("another caller does not read it, and a ninth call may not wait", async () => {
    const token = await node().token({ sub: "somebody-else" });
    const first = await call("run_speaker", { topic: "1" }, named);
    const { invocation_id } = first.body;
    const foreign = await call("svc_invocation_get", { invocation_id }, { ...named, token });
    expect(foreign).toMatchObject({ isError: true, body: { code: "not_found" } });
    for (let count = 2; count <= 8; count += 1) {
      expect((await call("run_speaker", { topic: `${count}` }, named)).body.status).toBe("pending");
    }
    expect((await call("run_speaker", { topic: "9" }, named)).body).toMatchObject({ error_code: 2008 });
    await decide(first.body.approval_id, "reject", { reason: "no" });
    await read(invocation_id);
    expect((await call("run_speaker", { topic: "10" }, named)).body.status).toBe("pending");
  });
});
