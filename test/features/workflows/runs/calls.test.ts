/** Tool, Fleet and Http states on a running node: through policy, past people, to hosts and services (docs/reference/workflow-calls.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ScriptedDaemon } from "../../../harness/edge/scripted-daemon.ts";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { startNodeProcess } from "../../../harness/node/node-process.ts";
import { Receiver } from "../../../harness/outside/receiver.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";
import { until } from "../../../harness/until.ts";
import { EdgeFixture, type Headers } from "../../edge/fixture.ts";

const receiver = new Receiver();
let edge: EdgeFixture;
let root: Headers;
let admin: Headers;

async function nodeOn(stores: TestStores): Promise<void> {
  const env = { SVC_TRUSTED_PROXIES: "127.0.0.1", SVC_PUBLIC_URL: "", SVC_EGRESS_ALLOW_PRIVATE: '["127.0.0.1"]' };
  edge = new EdgeFixture(stores, await startNodeProcess(stores, { env }));
  root = { Authorization: `Bearer ${await edge.node.token()}` };
  admin = await edge.operator("admin");
}

beforeAll(async () => {
  await nodeOn(await freshStores());
  const approval = { timeout_seconds: 3600 };
  await context("careful", { tool_pattern: "svc.agent.list", approval }, { tool_pattern: "*" });
  await context("rated", { tool_pattern: "svc.agent.list", rate_limit: { calls: 1, per_seconds: 2 } });
});
afterAll(async () => {
  await receiver.stop();
  await edge?.close();
});

async function post(path: string, body: object = {}, headers: Headers = root): Promise<LooseJson> {
  const answer = await edge.node.call("POST", path, body, headers);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
const get = async (path: string): Promise<LooseJson> => (await edge.node.call("GET", path, undefined, root)).body;
const context = (name: string, ...capabilities: object[]) => post("/v1/security-contexts", { name, capabilities });

const done = { kind: "System", command: "noop", transitions: [] };
const followed = [
  { condition: "on_success", target: "DONE" },
  { condition: "on_failure", target: "SORRY" },
];
let count = 0;

/** Registers a workflow of one state, `WORK`. @returns its name */
async function registered(state: object, spec: object = {}): Promise<string> {
  count += 1;
  const name = `calls-${count}`;
  const states = { WORK: { transitions: followed, ...state }, DONE: done, SORRY: done };
  const manifest = { apiVersion: "svc.dev/v1", kind: "Workflow", metadata: { name } };
  await post("/v1/workflows", { ...manifest, spec: { initial_state: "WORK", states, ...spec } });
  return name;
}
async function started(state: object, spec: object = {}, headers: Headers = root): Promise<string> {
  return (await post(`/v1/workflows/${await registered(state, spec)}/run`, {}, headers)).execution_id;
}
const record = (id: string): Promise<LooseJson> => get(`/v1/workflows/executions/${id}`);
const ended = (id: string): Promise<LooseJson> =>
  until(
    async () => {
      const run = await record(id);
      return run.ended_at === null ? null : run;
    },
    { what: "the end of the run", timeoutMs: 30_000 },
  );
const waiting = (id: string): Promise<LooseJson> =>
  until(async () => (await record(id)).waiting_for, { what: "the run to wait", timeoutMs: 30_000 });
const events = async (id: string): Promise<LooseJson[]> =>
  (await get(`/v1/workflows/executions/${id}/logs?limit=500`)).events;
/** The record of the one call of a run, once it has ended. */
const called = (id: string): Promise<LooseJson> =>
  until(
    async () => {
      const { items } = await get(`/v1/tool-invocations?execution_id=${id}`);
      return items.length === 1 && items[0].outcome !== "running" ? items[0] : null;
    },
    { what: "the end of the call on record" },
  );
const decide = (id: string, verb: string, body: object = {}) => post(`/v1/human-approvals/${id}/${verb}`, body, admin);

describe("Tool", () => {
  test("acts as the starter, on record as a call of the run", async () => {
    const id = await started({ kind: "Tool", tool: "svc.agent.list", arguments: { limit: 1 } });
    const run = await ended(id);
    expect(run.status).toBe("completed");
    expect(run.state_outputs.WORK).toMatchObject({ status: "success", output: { count: 0 } });
    expect(await called(id)).toMatchObject({
      ...{ entry: "workflow", tool_name: "svc.agent.list", outcome: "success", security_context: "svc-agent-runtime" },
    });
    const used = () => get("/v1/usage?group_by=tool");
    await until(async () => JSON.stringify((await used()).items).includes("svc.agent.list"), { what: "its use" });
  });

  test.each([
    ["what its context denies", { tool: "svc.agent.delete", arguments: { agent_id: "x" } }, "tool_denied"],
    ["a tool of a sandbox", { tool: "fs.read", arguments: { path: "/a" } }, "execution_required"],
    ["one that there is not", { tool: "no.such", arguments: {} }, "unknown_tool"],
    ["arguments that do not fit", { tool: "svc.agent.list", arguments: { limit: "many" } }, "invalid_arguments"],
  ])("is refused %s", async (_, state, error) => {
    const run = await ended(await started({ kind: "Tool", ...state }));
    expect(run.state_outputs.WORK).toMatchObject({ status: "failed", error });
  });

  test("cannot wait for the run that it is a part of", async () => {
    const state = { kind: "Tool", tool: "svc.workflow.wait", arguments: { execution_id: "{{execution.id}}" } };
    expect((await ended(await started(state))).state_outputs.WORK).toMatchObject({ error: "wait_on_ancestor" });
  });

  test("waits out a rate", async () => {
    const calls = { kind: "Tool", tool: "svc.agent.list", timeout: "60s" };
    const states = {
      ...{ WORK: { ...calls, transitions: [{ target: "AGAIN" }] }, AGAIN: { ...calls, transitions: followed } },
      ...{ DONE: done, SORRY: done },
    };
    const run = await ended(await started(calls, { states, security_context: "rated" }));
    expect(run.state_outputs).toMatchObject({ WORK: { status: "success" }, AGAIN: { status: "success" } });
    const refused = await get(`/v1/tool-invocations?execution_id=${run.id}&decision=deny`);
    expect(refused.items).toMatchObject([{ code: "rate_limited" }]);
  });

  test("waits for a person across kill -9; a starter who is gone gets nothing", async () => {
    const state = { kind: "Tool", tool: "svc.agent.list", arguments: { limit: 1 }, timeout: "2s" };
    const spec = { security_context: "careful" };
    const key = await post("/v1/api-keys", { name: "k", scopes: ["workflow:run", "workflow:read", "agent:list"] });
    const byKey = { Authorization: `Bearer ${key.key}` };
    const first = await started(state, spec);
    const second = await started(state, spec, byKey);
    const [asked, other] = [await waiting(first), await waiting(second)];
    expect(asked).toMatchObject({ kind: "tool_call", state_name: "WORK" });
    const { request } = await get(`/v1/human-approvals/${asked.approval_id}`);
    expect(request).toMatchObject({ kind: "tool_call", execution_id: first, state_name: "WORK", visit: 1 });
    expect(request.tool_call).toMatchObject({ tool: "svc.agent.list", security_context: "careful" });
    expect((await edge.node.call("DELETE", `/v1/api-keys/${key.id}`, undefined, root)).status).toBeLessThan(300);
    const due = Date.now() + 2_500;
    await edge.node.kill();
    await edge.node.dispose();
    await nodeOn(edge.stores);
    // The timeout of the state passes while its call waits, and the state stays.
    await until(() => Date.now() > due, { what: "the state's timeout to pass" });
    expect((await waiting(first)).approval_id).toBe(asked.approval_id);
    await Promise.all([decide(asked.approval_id, "approve"), decide(other.approval_id, "approve")]);
    const [run, refused] = [await ended(first), await ended(second)];
    expect(run.state_outputs.WORK).toMatchObject({ status: "success", approval_id: asked.approval_id });
    expect(refused.state_outputs.WORK).toMatchObject({ status: "failed", error: "tool_not_allowed" });
    const told = await events(first);
    const types = told.map(({ type }) => type).filter((type) => type.startsWith("HumanInput"));
    expect(types).toEqual(["HumanInputRequested", "HumanInputResolved"]);
    expect(await called(first)).toMatchObject({ outcome: "success", approval_id: asked.approval_id });
  }, 60_000);

  test("left by a cancelled run is asked about no longer", async () => {
    const id = await started({ kind: "Tool", tool: "svc.agent.list" }, { security_context: "careful" });
    const { approval_id } = await waiting(id);
    await post(`/v1/workflows/executions/${id}/cancel`);
    await ended(id);
    await until(async () => (await get(`/v1/human-approvals/${approval_id}/history`)).status === "withdrawn", {
      what: "the approval to be withdrawn",
    });
  });
});

describe("a context that a workflow names", () => {
  const state = { kind: "Tool", tool: "svc.agent.list" };

  test("must be there, and one that its deployer may use, also when a run starts", async () => {
    const missing = await registered(state, { security_context: "none-such" }).catch((error: Error) => error.message);
    expect(missing).toContain("unknown_security_context");
    await post("/v1/security-contexts", { name: "ours", capabilities: [{ tool_pattern: "*" }] });
    const name = await registered(state, { security_context: "ours" });
    const before = (await post(`/v1/workflows/${name}/run`)).execution_id;
    await ended(before);
    const others = { capabilities: [{ tool_pattern: "*" }], usable_by: ["user:another"] };
    await edge.node.call("PUT", "/v1/security-contexts/ours", others, root);
    await until(
      async () => (await registered(state, { security_context: "ours" }).catch(() => "refused")) === "refused",
      {
        what: "registration to be refused",
      },
    );
    const answer = await edge.node.call("POST", `/v1/workflows/${name}/run`, {}, root);
    expect([answer.status, answer.body.code]).toEqual([403, "security_context_forbidden"]);
    const path = `/v1/workflows/executions/${before}/fork`;
    const forked = await edge.node.call("POST", path, { from_state: "WORK" }, root);
    expect([forked.status, forked.body.code]).toEqual([403, "security_context_forbidden"]);
  });
});

describe("Fleet", () => {
  const spec = { security_context: "svc-system-operator" };
  const hosts: ScriptedDaemon[] = [];

  beforeAll(async () => {
    const { keys } = (await (await fetch(`${edge.node.url}/.well-known/jwks.json`)).json()) as LooseJson;
    for (const name of ["web-1", "web-2"]) {
      const enrolled = await edge.host(root, { name, tags: ["web"] });
      const daemon = new ScriptedDaemon(edge.node.url, enrolled, edge.address());
      for (const { kid, x } of keys) {
        if (kid.startsWith("edge-")) daemon.serviceKeys.set(kid, Buffer.from(x, "base64url").toString("base64"));
      }
      await daemon.welcome();
      hosts.push(daemon);
    }
  });

  const fleet = (command: unknown, more: object = {}) =>
    started({ kind: "Fleet", target: { Selector: { tags: ["web"] } }, command, ...more }, spec);
  const answer = async (daemon: ScriptedDaemon, changes: object) => {
    const { command_id, args } = await daemon.expect("invoke");
    daemon.started(command_id);
    daemon.result(command_id, changes);
    return args;
  };
  const [one, two] = [() => hosts[0] as ScriptedDaemon, () => hosts[1] as ScriptedDaemon];

  test("has the results of its hosts; one that fails is a failure", async () => {
    const id = await fleet(["echo", "{{execution.id}}"]);
    const args = await answer(one(), { structured: { exit_code: 0, stdout: "up" }, stdout_tail: "up" });
    expect(args).toEqual({ command: "echo", args: [id] });
    await answer(two(), { status: "err", exit_code: 3, error_kind: "nonzero_exit", stderr_tail: "down" });
    const { WORK } = (await ended(id)).state_outputs;
    expect(WORK).toMatchObject({ status: "failed", error: "hosts_failed", summary: { ok: 1, err: 1, failed: 1 } });
    expect(WORK.results).toMatchObject([
      { name: "web-1", status: "ok", stdout: "up" },
      { name: "web-2", status: "err", exit_code: 3, stderr: "down" },
    ]);
    const run = await get(`/v1/edge/fleet/runs/${WORK.fleet_command_id}`);
    expect(run.requested_by).toMatchObject({ entry: "workflow", execution_id: id });
  });

  test("asks people where its policy does, and goes on", async () => {
    const id = await fleet("uptime", { policy: { approval: true }, timeout: "30s" });
    const asked = await waiting(id);
    await decide(asked.approval_id, "approve");
    for (const daemon of hosts) await answer(daemon, {});
    const run = await ended(id);
    expect(run.state_outputs.WORK).toMatchObject({ status: "success", summary: { ok: 2, failed: 0 } });
    expect((await events(id)).map(({ type }) => type)).toContain("HumanInputResolved");
  });

  test("cancelled with its run reaches the hosts", async () => {
    const id = await fleet("sleep 60");
    const begun = await Promise.all(hosts.map((daemon) => daemon.expect("invoke")));
    hosts.forEach((daemon, at) => {
      daemon.started(begun[at]?.command_id);
    });
    await post(`/v1/workflows/executions/${id}/cancel`);
    for (const [at, daemon] of hosts.entries()) {
      const { command_id } = begun[at] as LooseJson;
      expect(await daemon.expect("cancel")).toMatchObject({ command_id });
      daemon.result(command_id, { status: "cancelled", error_kind: "cancelled" });
    }
    await until(async () => (await get("/v1/edge/fleet/runs?limit=1")).items[0].outcome === "cancelled", {
      what: "the end of the fleet run",
    });
  });
});

test("Http has secrets in its headers alone, and one key over all attempts", async () => {
  const value = "token-that-is-in-no-record";
  await edge.node.call("PUT", "/v1/secrets/api/token", { value }, root);
  receiver.replies.set("/api", ({ headers }, earlier) =>
    Response.json({ saw: headers.get("authorization") }, { status: earlier < 1 ? 503 : 200 }),
  );
  const id = await started({
    ...{ kind: "Http", url: receiver.url("/api"), method: "POST", body: { run: "{{execution.id}}" } },
    ...{
      headers: { Authorization: "secret:api/token" },
      retry: { attempts: 3, delay: "1s", on: ["unexpected_response"] },
    },
    expect: { status: [200], schema: { type: "object", required: ["saw"] } },
  });
  const run = await ended(id);
  expect(run.state_outputs.WORK).toMatchObject({ status: "success", http_status: 200 });
  const sent = receiver.at("/api");
  expect(sent.map(({ headers }) => headers.get("idempotency-key"))).toEqual([`${id}:WORK:1`, `${id}:WORK:1`]);
  expect(sent.map(({ headers, body }) => [headers.get("authorization"), body])).toEqual([
    [value, JSON.stringify({ run: id })],
    [value, JSON.stringify({ run: id })],
  ]);
  expect(JSON.stringify([run, await events(id)])).not.toContain(value);
});
