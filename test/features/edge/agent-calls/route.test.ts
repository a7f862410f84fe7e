/** The way of a call to its host: for whom, under which id, how often (docs/reference/edge-agents.md). */
import { beforeEach, describe, expect, test } from "bun:test";
import type { Identity } from "../../../../actors/identity/identity.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { createHostRoute } from "../../../../src/features/edge/agent-calls/route.ts";
import type { FleetCaller, HostCall, HostCallOutcome } from "../../../../src/features/edge/fleet/port.ts";
import { identityOf } from "../../../harness/callers.ts";
import { requestOf } from "../../tools/request.ts";

const scope = "aegis.edge.fleet.manage";
const target = { edge_node_id: "n" };
const ended: HostCallOutcome = {
  ...{ is: "ended", status: "ok", command_id: "c", node_id: "n", exit_code: 0, error_kind: null },
  ...{ error_message: null, stdout_tail: "", stderr_tail: "", structured: { exit_code: 0 } },
};
const begun: { readonly caller: FleetCaller; readonly runId: string; readonly call: HostCall }[] = [];
const known = new Set<string>();
const told: string[] = [];
let identity: Identity | null;
let fault: Error | null;
let stands: (runId: string, signal: AbortSignal) => Promise<HostCallOutcome>;
beforeEach(() => {
  for (const list of [begun, told]) list.length = 0;
  known.clear();
  identity = identityOf("t", { scopes: new Set([scope]) });
  fault = null;
  stands = async () => ended;
});

const run = (_: string, key: string) => ({
  read: async () => (known.has(key) ? {} : null),
  tell: async (type: string) => void told.push(`${type} ${key}`),
});
const route = createHostRoute({
  // Of an actor only these are asked.
  runtime: { of: () => ({ at: run }) } as never,
  hostCalls: {
    async begin(caller, runId, call) {
      if (fault !== null) throw fault;
      begun.push({ caller, runId, call });
      known.add(runId);
    },
    goOn: async (_, runId) => void told.push(`go on ${runId}`),
    settled: (_, runId, signal) => stands(runId, signal),
  },
  actingFor: async () => identity,
});
const call = (given: Record<string, unknown> = {}, change: Parameters<typeof requestOf>[2] = {}) =>
  route.call(requestOf("cmd.run", { command: "uptime", ...given }, change), target);

test("a repeat joins the run, although its target changed and its caller is gone", async () => {
  expect(await call()).toMatchObject({ status: "succeeded", result: { exit_code: 0, edge_node_id: "n" } });
  fault = new Problem("multiple_targets", "two by now");
  identity = null;
  expect(await call()).toMatchObject({ status: "succeeded" });
  expect(begun).toHaveLength(1);
  // Approved meanwhile, it begins only now that the call has passed again.
  expect(told).toEqual([`go on ${begun[0]?.runId}`]);
});

test("in a loop the run has the id of the record, elsewhere one of caller and key", async () => {
  const at = requestOf("cmd.run", {});
  await call();
  expect(begun[0]?.runId).toBe(at.invocationId);
  const seal = { entry: "seal" as const };
  await call({}, seal);
  await call({}, { ...seal, invocationId: crypto.randomUUID() });
  await call({}, { ...seal, who: { ...at.who, principal: "another" } });
  await call({}, { ...seal, idempotencyKey: crypto.randomUUID() });
  const ids = begun.slice(1).map(({ runId }) => runId);
  expect(ids).toHaveLength(3);
  expect(new Set([...ids, at.invocationId, at.idempotencyKey]).size).toBe(5);
});

describe("nothing is begun", () => {
  test("for no one", async () => {
    identity = null;
    expect(await call()).toMatchObject({ status: "refused", error_code: 2000, attempted: "svc.edge.fleet.invoke" });
  });
  test("for who holds the scope no more", async () => {
    identity = identityOf("t", { kind: "tenant_user", role: null, scopes: new Set(["aegis.edge.fleet.read"]) });
    expect(await call()).toMatchObject({ status: "failed", code: "insufficient_scope", details: { required: scope } });
  });
  test.each([
    ["host_not_found", "failed"],
    ["multiple_targets", "failed"],
    ["dispatch_disabled", "failed"],
    ["agent_runs_denied", "refused"],
  ] as const)("where the fleet says %s: %s", async (code, status) => {
    fault = new Problem(code, "no");
    expect(await call()).toMatchObject({ status, code });
  });
  test("while the service is away, which is thrown on", async () => {
    fault = new Problem("service_unavailable", "away");
    await expect(call()).rejects.toThrow("away");
  });
});

test.each([
  ["cmd.run", {}, 3600, 600],
  ["cmd.run", { timeout_secs: 5 }, 3600, 5],
  ["cmd.run", { timeout_secs: 500 }, 30, 30],
  ["fs.read", {}, 3600, 60],
])("%s with %j within %d s has %d s", async (tool, given, maxTimeoutSecs, seconds) => {
  const bounds = { ...requestOf("", {}).bounds, maxTimeoutSecs };
  await route.call(requestOf(tool, given, { bounds }), target);
  expect(begun[0]?.call).toMatchObject({ tool, args: given, deadlineSeconds: seconds, securityContext: null });
});

test("a run that asks people is told as such; a caller that is gone is", async () => {
  stands = async () => ({ is: "waiting", approval_id: "a", expires_at: "2033-05-18T03:33:20.000Z" });
  const { invocationId } = requestOf("", {});
  expect(await call()).toEqual({
    ...{ status: "waiting", fleet_command_id: invocationId, approval_id: "a", expires_at: 2_000_000_000_000 },
  });
  stands = async () => ({ is: "running" });
  await expect(call({}, { signal: AbortSignal.abort(new Error("gone")) })).rejects.toThrow("gone");
  await route.cancel(requestOf("cmd.run", {}), "gone");
  expect(told.at(-1)).toBe(`cancel ${invocationId}`);
});
