/** The tools of the fleet: what they ask for, and for whom (docs/reference/edge-agents.md). */
import { describe, expect, test } from "bun:test";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { fleetTools } from "../../../../src/features/edge/agent-calls/tools.ts";
import { collected, type ToolCaller } from "../../../../src/features/management-tools/port.ts";
import { identityOf } from "../../../harness/callers.ts";

const asked: unknown[][] = [];
let fault: Problem | null = null;
const answer =
  <T>(value: T) =>
  async (...given: unknown[]): Promise<T> => {
    asked.push(given);
    if (fault !== null) throw fault;
    return value;
  };
const host = { node_id: "n", name: "web-1", status: "connected" };
const tools = collected(
  fleetTools({
    fleet: {
      preview: answer({ resolved: [host], queued: [], skipped: [], count: 1, requires_approval: true, waves: [["n"]] }),
      invoke: answer({
        ...{ fleet_command_id: "r", status: "running" as const, approval_id: null, targets_resolved: 1 },
        targets_skipped: 0,
      }),
      cancel: answer({ status: "cancelling" as const, cancelled: 1, already_terminal: 0 }),
    },
  }),
);
const caller = (change: Partial<ToolCaller> = {}): ToolCaller => ({
  tenant: "acme",
  entry: "dispatch",
  identity: identityOf("acme", { scopes: new Set(["aegis.edge.fleet.read", "aegis.edge.fleet.manage"]) }),
  executionId: "e",
  ceilings: [],
  requestId: "invocation",
  workId: "work",
  signal: new AbortController().signal,
  policy: { context: "own", ceilings: [], tools: null, patterns: null },
  ...change,
});
async function call(name: string, given: object, by = caller()) {
  asked.length = 0;
  return tools.call(name, by, given);
}
const target = { Selector: { tags: ["web"] } };
const run = { target, tool: "cmd.run", args: { command: "uptime" } };

describe.each(["svc", "aegis"])("under %s.", (prefix) => {
  test("list shows what preview shows", async () => {
    expect(await call(`${prefix}.edge.fleet.list`, { target })).toMatchObject({
      status: "succeeded",
      result: { count: 1, resolved: [host], requires_approval: true },
    });
  });
  test("invoke begins a run under the id of the call", async () => {
    expect(await call(`${prefix}.edge.fleet.invoke`, run)).toEqual({
      status: "succeeded",
      result: { tool: "svc.edge.fleet.invoke", fleet_command_id: "r", status: "running", resolved: [host] },
    });
    expect(asked[0]?.[1]).toBe("work");
  });
  test("cancel ends one", async () => {
    const fleet_command_id = "0190F3C4-0000-7000-8000-00000000000B";
    const cancelled = await call(`${prefix}.edge.fleet.cancel`, { fleet_command_id });
    expect(cancelled).toMatchObject({ result: { fleet_command_id: fleet_command_id.toLowerCase(), cancelled: 1 } });
  });
});

describe("the policy of invoke", () => {
  const policyOf = async (given: object) => {
    await call("svc.edge.fleet.invoke", { ...run, ...given });
    return (asked[0]?.at(2) as { policy?: unknown } | undefined)?.policy;
  };
  const usual = { mode: "Parallel", failure_policy: "ContinueOnError" };
  test.each([
    ["nothing", {}, usual],
    ["other members", { policy: { canary: 1 } }, { ...usual, canary: 1 }],
    ["a mode", { policy: { mode: "sequential" } }, { failure_policy: "ContinueOnError", mode: "sequential" }],
    [
      "a failure policy in another spelling",
      { policy: { failurePolicy: "x" } },
      { mode: "Parallel", failurePolicy: "x" },
    ],
    ["a mode beside it", { mode: "Sequential" }, { failure_policy: "ContinueOnError" }],
    ["what is none", { policy: [] }, []],
  ])("that says %s", async (_, given, wanted) => {
    if (Array.isArray(wanted))
      expect(await call("svc.edge.fleet.invoke", { ...run, ...given })).toMatchObject({ code: "invalid_arguments" });
    else expect(await policyOf(given)).toEqual(wanted);
  });
});

test.each([
  ["dispatch", [], true],
  ["seal", [], true],
  ["mcp", [], true],
  ["workflow", [], false],
  ["workflow", ["of-an-agent"], true],
] as const)("by way of %s with ceilings %j an agent asks: %p", async (entry, ceilings, isAgent) => {
  const policy = { context: "own", ceilings, tools: null, patterns: null };
  await call("svc.edge.fleet.invoke", run, caller({ entry, policy }));
  expect(asked[0]?.[0]).toMatchObject({ entry, isAgent, executionId: "e", by: { request_id: "invocation" } });
});

test.each([
  ["list", "aegis.edge.fleet.read", { target }],
  ["invoke", "aegis.edge.fleet.manage", run],
  ["cancel", "aegis.edge.fleet.manage", { fleet_command_id: crypto.randomUUID() }],
])("%s without its scope names it, and asks for nothing", async (name, scope, given) => {
  const by = caller({ identity: identityOf("acme", { kind: "tenant_user", role: null, scopes: new Set() }) });
  const outcome = await call(`svc.edge.fleet.${name}`, given, by);
  expect(outcome).toMatchObject({ status: "failed", code: "insufficient_scope", details: { required: scope } });
  expect(asked).toEqual([]);
});

test("what a tenant denies its agents is refused as by policy; all else fails", async () => {
  fault = new Problem("agent_runs_denied", "no");
  expect(await call("svc.edge.fleet.invoke", run)).toMatchObject({ status: "refused", code: "agent_runs_denied" });
  fault = new Problem("dispatch_disabled", "no");
  expect(await call("svc.edge.fleet.invoke", run)).toMatchObject({ status: "failed", code: "dispatch_disabled" });
  fault = null;
});
