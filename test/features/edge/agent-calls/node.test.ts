/** Agents that work on edge hosts, on a running node, in every way that calls come (docs/reference/edge-agents.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ScriptedDaemon } from "../../../harness/edge/scripted-daemon.ts";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { calls, manifest, say } from "../../../harness/manifests.ts";
import { until } from "../../../harness/until.ts";
import { callTool } from "../../mcp/fixture.ts";
import { agentKey, call, envelope, told } from "../../seal/fixture.ts";
import { EdgeFixture, type Headers } from "../fixture.ts";

let edge: EdgeFixture;
let root: Headers;
let admin: Headers;
let host: ScriptedDaemon;
let other: ScriptedDaemon;
const { privateKey, raw } = agentKey();

beforeAll(async () => {
  edge = await EdgeFixture.open();
  root = { Authorization: `Bearer ${await edge.node.token()}` };
  admin = await edge.operator("admin");
  [host, other] = [await connected("web-1"), await connected("web-2")];
});
afterAll(() => edge?.close());

async function connected(name: string): Promise<ScriptedDaemon> {
  const enrolled = await edge.host(root, { name, tags: ["web", name] });
  const daemon = new ScriptedDaemon(edge.node.url, enrolled, edge.address());
  const { keys } = (await (await fetch(`${edge.node.url}/.well-known/jwks.json`)).json()) as LooseJson;
  for (const { kid, x } of keys) {
    if (kid.startsWith("edge-")) daemon.serviceKeys.set(kid, Buffer.from(x, "base64url").toString("base64"));
  }
  await daemon.welcome();
  return daemon;
}
const agentRuns = (agent_runs: "approve" | "allow" | "deny") => edge.call("PUT", "settings", admin, { agent_runs });
const onHost = (more: object = {}) => ({ command: "uptime", target: { edge_node_id: host.host.id }, ...more });
const runOf = async (id: string): Promise<LooseJson> => (await edge.call("GET", `fleet/runs/${id}`, root)).body;
const newest = async (): Promise<LooseJson> => (await edge.call("GET", "fleet/runs?limit=1", root)).body.items[0];
const decide = (id: string, verb: string, body: object = {}) =>
  edge.node.call("POST", `/v1/human-approvals/${id}/${verb}`, body, admin);

/** The daemon runs the next command, which says this. @returns its run */
async function served(by: ScriptedDaemon, structured: object = { exit_code: 0, stdout: "up 3 days\n", stderr: "" }) {
  const { command_id, fleet_command_id } = await by.expect("invoke");
  by.started(command_id);
  by.result(command_id, { structured });
  return fleet_command_id as string;
}
/** Commands that the daemon was told to run. */
const invoked = (by: ScriptedDaemon): number => by.all("invoke").length;

/** An agent whose model makes these calls, one after another. */
async function started(...rounds: readonly (readonly [string, Record<string, unknown>])[]): Promise<string> {
  const spec = { security_context: "svc-system-operator" };
  const script = [...rounds.map((one) => calls(one)), say("done")];
  const { body } = await edge.node.call("POST", "/v1/agents", manifest({ tools: ["*"], script, spec }), root);
  const answer = await edge.node.call("POST", "/v1/executions", { agent_id: body.agent_id, input: "" }, root);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body.execution_id;
}
const execution = async (id: string, query = ""): Promise<LooseJson> =>
  (await edge.node.call("GET", `/v1/executions/${id}${query}`, undefined, root)).body;
async function steps(id: string): Promise<readonly { status: string; result: LooseJson }[]> {
  const record = await until(
    async () => {
      const found = await execution(id, "?wait_seconds=10&include=llm");
      return /^(pending|running)$/.test(found.status) ? null : found;
    },
    { what: "the end of the execution", timeoutMs: 60_000 },
  );
  return record.iterations[0].trajectory.map(({ status, result_json }: Record<string, string>) => ({
    status: status ?? "",
    result: JSON.parse(result_json ?? "null"),
  }));
}
const waiting = (id: string): Promise<LooseJson> =>
  until(async () => (await execution(id)).waiting_for ?? null, { what: "the call to wait", timeoutMs: 60_000 });

describe("in an agent's loop", () => {
  test("a call waits with its run for a person, then has the host's result as its own", async () => {
    await agentRuns("approve");
    const id = await started(["cmd.run", onHost()]);
    const asked = await waiting(id);
    expect(asked).toMatchObject({ kind: "tool_call", tool: "cmd.run" });
    const run = await newest();
    expect(run).toMatchObject({ status: "awaiting_approval", approval_id: asked.approval_id, targets_resolved: 1 });
    expect(run.requested_by).toMatchObject({ entry: "dispatch", execution_id: id });
    expect((await decide(asked.approval_id, "approve")).status).toBe(200);
    const runId = await served(host);
    const [step] = await steps(id);
    expect(step).toMatchObject({
      status: "succeeded",
      result: { exit_code: 0, stdout: "up 3 days\n", edge_node_id: host.host.id, fleet_command_id: runId },
    });
    expect((await edge.node.call("GET", `/v1/tool-invocations/${runId}`, undefined, root)).body).toMatchObject({
      ...{ entry: "dispatch", tool_name: "cmd.run", outcome: "success", approval_id: asked.approval_id },
      arguments: { target: { edge_node_id: host.host.id } },
    });
    const { items } = (await edge.node.call("GET", `/v1/audit?target_id=${runId}`, undefined, admin)).body;
    expect(items).toMatchObject([{ action: "edge.fleet_invoked", actor: { kind: "agent" }, request_id: runId }]);
  });

  test("a rejected one is told so, and the model goes on; nothing is sent", async () => {
    const before = invoked(host);
    const id = await started(["cmd.run", onHost()]);
    await decide((await waiting(id)).approval_id, "reject", { reason: "not today" });
    const [step] = await steps(id);
    expect(step).toMatchObject({ status: "failed", result: { code: "rejected_by_person", reason: "not today" } });
    expect(invoked(host)).toBe(before);
  });

  test("what no host can be asked is told; under allow no person is asked", async () => {
    await agentRuns("allow");
    const selector = (tags: readonly string[]) => ({ command: "id", target: { edge_selector: { tags } } });
    const id = await started(
      ["cmd.run", selector(["web"])],
      ["cmd.run", selector(["none"])],
      ["cmd.run", { command: "id", target: { edge_node_id: crypto.randomUUID() } }],
      ["fs.read", { path: "/etc/motd", target: { edge_selector: { tags: ["web-2"] } } }],
    );
    await served(other, { path: "/etc/motd", content: "hello" });
    const [several, none, unknown, read] = await steps(id);
    expect(several).toMatchObject({ status: "failed", result: { code: "multiple_targets" } });
    expect(none).toMatchObject({ status: "failed", result: { code: "multiple_targets" } });
    expect(unknown).toMatchObject({ status: "failed", result: { code: "host_not_found" } });
    expect(read).toMatchObject({ status: "succeeded", result: { content: "hello", edge_node_id: other.host.id } });
  });

  test("the end of the execution reaches the host", async () => {
    const id = await started(["cmd.run", onHost()]);
    const { command_id } = await host.expect("invoke");
    host.started(command_id);
    await edge.node.call("POST", `/v1/executions/${id}/cancel`, {}, root);
    expect(await host.expect("cancel")).toMatchObject({ command_id });
    host.result(command_id, { status: "cancelled", error_kind: "cancelled" });
    await until(async () => (await newest()).outcome === "cancelled", { what: "the end of the run" });
  });
});

describe("signed", () => {
  async function opened(security_context = "svc-system-operator") {
    const asked = { public_key: raw.toString("base64"), security_context };
    const { status, body } = await edge.node.call("POST", "/v1/seal/attest", asked, root);
    if (status !== 200) throw new Error(JSON.stringify(body));
    const send = async (
      name: string,
      given: object = {},
      headers: Headers = {},
    ): Promise<{ status: number; body: LooseJson }> => {
      const response = await fetch(`${edge.node.url}/v1/seal/invoke`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: envelope(privateKey, body.security_token, call(name, given)),
      });
      return { status: response.status, body: await response.json() };
    };
    return { send, sessionId: body.session_id as string };
  }

  test("a call is pending, and is read on once its run has ended", async () => {
    await agentRuns("approve");
    const before = invoked(host);
    const { send } = await opened();
    const key = { "Idempotency-Key": "on-host-1" };
    const first = await send("cmd.run", onHost(), key);
    expect([first.status, first.body.result.code]).toEqual([202, "approval_pending"]);
    const { approval_id, invocation_id } = first.body.result;
    expect(await newest()).toMatchObject({ approval_id, requested_by: { entry: "seal", execution_id: null } });
    expect((await send("cmd.run", onHost(), key)).body.result).toMatchObject({ invocation_id, approval_id });
    await decide(approval_id, "approve");
    const runId = await served(host);
    const read = await until(
      async () => {
        const { result } = (await send("svc.invocation.get", { invocation_id, wait_seconds: 5 })).body;
        return result.status === "pending" ? null : result;
      },
      { what: "the end of the call", timeoutMs: 30_000 },
    );
    expect(read).toMatchObject({ outcome: "success", result: { stdout: "up 3 days\n", fleet_command_id: runId } });
    expect(invoked(host)).toBe(before + 1);
    expect((await send("cmd.run", onHost(), key)).body.result).toEqual(read.result);
  });

  test("a context that is tightened before the approval: its code, and nothing is sent", async () => {
    const context = (...patterns: string[]) => ({
      name: "on-hosts",
      capabilities: patterns.map((tool_pattern) => ({ tool_pattern })),
    });
    await edge.node.call("POST", "/v1/security-contexts", context("cmd.run", "svc.*"), root);
    const before = invoked(host);
    const { send } = await opened("on-hosts");
    const { approval_id, invocation_id } = (await send("cmd.run", onHost())).body.result;
    const { fleet_command_id: id } = await newest();
    const put = await edge.node.call("PUT", "/v1/security-contexts/on-hosts", context("svc.agent.*"), root);
    expect(put.status).toBe(200);
    expect((await decide(approval_id, "approve")).status).toBe(200);
    const read = (await send("svc.invocation.get", { invocation_id, wait_seconds: 20 })).body.result;
    expect(read).toMatchObject({ outcome: "failed", result: { code: "tool_not_allowed", error_code: 2000 } });
    await until(async () => (await runOf(id)).status === "cancelled", { what: "the run to be cancelled" });
    expect(invoked(host)).toBe(before);
  });

  test("a call ends with its cancelled run, and a run with the session of its call", async () => {
    const { send, sessionId } = await opened();
    const { invocation_id } = (await send("cmd.run", onHost())).body.result;
    const { fleet_command_id: id } = await newest();
    expect((await edge.call("POST", `fleet/${id}/cancel`, root, {})).status).toBe(200);
    const read = (await send("svc.invocation.get", { invocation_id, wait_seconds: 20 })).body.result;
    expect(read).toMatchObject({ outcome: "failed", result: { code: "cancelled" } });
    const { approval_id } = (await send("cmd.run", onHost())).body.result;
    const other = (await newest()).fleet_command_id;
    await edge.node.call("DELETE", `/v1/seal/sessions/${sessionId}`, undefined, root);
    await until(async () => (await runOf(other)).status === "cancelled", { what: "the run to be cancelled" });
    expect((await decide(approval_id, "approve")).status).toBe(409);
  });

  test.each(["svc", "aegis"])(
    "%s.edge.fleet.invoke has a run wait, is refused under deny, runs under allow",
    async (prefix) => {
      const { send } = await opened();
      const asked = { target: { Node: host.host.id }, tool: "cmd.run", args: { command: "uptime" } };
      await agentRuns("approve");
      const first = (await send(`${prefix}.edge.fleet.invoke`, asked)).body.result;
      expect(first).toMatchObject({
        tool: "svc.edge.fleet.invoke",
        status: "awaiting_approval",
        resolved: [{ name: "web-1" }],
      });
      const cancelled = (await send(`${prefix}.edge.fleet.cancel`, { fleet_command_id: first.fleet_command_id })).body
        .result;
      expect(cancelled).toMatchObject({ status: "cancelled", cancelled: 1 });
      const preview = (await send(`${prefix}.edge.fleet.list`, { target: { Node: host.host.id } })).body.result;
      expect(preview).toMatchObject({ count: 1, requires_approval: true, resolved: [{ node_id: host.host.id }] });
      await agentRuns("deny");
      expect(told(await send(`${prefix}.edge.fleet.invoke`, asked))).toEqual([403, 2000, "agent_runs_denied"]);
      expect(told(await send("cmd.run", onHost()))).toEqual([403, 2000, "agent_runs_denied"]);
      await agentRuns("allow");
      const run = (await send(`${prefix}.edge.fleet.invoke`, asked)).body.result;
      expect(run.status).toBe("running");
      expect(await served(host)).toBe(run.fleet_command_id);
      expect(await runOf(run.fleet_command_id)).toMatchObject({
        policy: { mode: "Parallel", failure_policy: "ContinueOnError", per_target_deadline_secs: 60 },
      });
    },
  );
});

test("by the tool server a run waits or is refused, and a person's runs at once", async () => {
  const asked = { target: { Node: host.host.id }, tool: "cmd.run", args: { command: "uptime" } };
  const headers = { "X-Svc-Security-Context": "svc-system-operator" };
  await agentRuns("approve");
  const { body } = await callTool([edge.node], "svc_edge_fleet_invoke", asked, { headers });
  expect(body).toMatchObject({ status: "awaiting_approval" });
  expect((await runOf(body.fleet_command_id)).requested_by).toMatchObject({ entry: "mcp" });
  await agentRuns("deny");
  const denied = await callTool([edge.node], "svc_edge_fleet_invoke", asked, { headers });
  expect(denied).toMatchObject({ isError: true, body: { code: "agent_runs_denied" } });
  const own = await edge.call("POST", "fleet/invoke", { ...root, Accept: "application/json" }, asked);
  expect(own.body.status).toBe("running");
  expect(await served(host)).toBe(own.body.fleet_command_id);
});

// Last: the node has another address afterwards.
test("a call whose node is killed joins its run: the host starts once", async () => {
  await agentRuns("allow");
  const id = await started(["cmd.run", onHost()]);
  const { command_id, fleet_command_id } = await host.expect("invoke");
  host.started(command_id);
  await host.settled();
  await edge.node.kill();
  await edge.node.restart();
  root = { Authorization: `Bearer ${await edge.node.token({ expires_in: "3599" })}` };
  for (const daemon of [host, other]) daemon.url = edge.node.url;
  await host.welcome({ commands: [{ command_id, state: "running" }] });
  await other.welcome();
  host.result(command_id, { structured: { exit_code: 0, stdout: "once\n" } });
  const [step] = await steps(id);
  expect(step).toMatchObject({ status: "succeeded", result: { stdout: "once\n", fleet_command_id } });
  expect(invoked(host)).toBe(0);
  const { items } = (await edge.call("GET", "fleet/runs?limit=2", root)).body;
  expect(items.map((run: LooseJson) => run.requested_by.execution_id === id)).toEqual([true, false]);
});
