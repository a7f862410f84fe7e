/** The tools of workflows: what their routes do, with arguments and failures of their own. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Identity } from "../../../../actors/identity/identity.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { usualTerms } from "../../../../actors/policy/quota.ts";
import { approvalRecords } from "../../../../src/features/approvals/records.ts";
import { createApprovals } from "../../../../src/features/approvals/service.ts";
import { createAudit } from "../../../../src/features/audit/service.ts";
import type { Started } from "../../../../src/features/executions/schema.ts";
import type { ManagementTools, ToolCaller } from "../../../../src/features/management-tools/port.ts";
import { createReferences } from "../../../../src/features/references/references.ts";
import { createWorkflows } from "../../../../src/features/workflows/definitions/service.ts";
import { reviewByExecutions } from "../../../../src/features/workflows/runs/tools/review.ts";
import { workflowTools } from "../../../../src/features/workflows/runs/tools/tools.ts";
import { definitionOf, human, noop } from "../../../actors/workflow/fixture.ts";
import { offer } from "../../../actors/workflow/manifest/fixture.ts";
import { identityOf } from "../../../harness/callers.ts";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { fakeRuntime } from "../../../harness/runtime/fake-runtime.ts";
import { type Fixture, openFixture } from "./fixture.ts";

let fixture: Fixture;
let tools: ManagementTools;
let token: string;
let answers: Record<string, string | null>;
const asked: string[] = [];
beforeAll(async () => {
  fixture = await openFixture();
  token = fixture.caller("north");
  fixture.register("north", definitionOf({ ASK: human([]) }, { name: "asks" }));
  fixture.register("north", definitionOf({ ASK: human([], { allow_agents: true }) }, { name: "open" }));
  const output_template = { word: "{{input.word}}" };
  fixture.register("north", definitionOf({ ASK: human([]) }, { name: "says", output_template }));
  const workflows = createWorkflows({
    follower: { changed: async () => {}, committed: async () => {} },
    audit: createAudit({ now: Date.now, newId: () => Bun.randomUUIDv7() }),
    references: createReferences(),
    contexts: { exists: async () => true, mayUse: async () => true },
    terms: async (tenant) => usualTerms(tenant),
    sql: fixture.stores.sql,
    offer,
    visibleAgents: async (_, refs) => new Set(refs),
    countRuns: fixture.runs.countByWorkflow,
    unfinishedRuns: fixture.runs.unfinishedOf,
    cancelRuns: fixture.runs.cancelOfWorkflow,
    now: Date.now,
    newId: () => Bun.randomUUIDv7(),
  });
  tools = workflowTools({
    runs: fixture.runs,
    runtime: fixture.runtime,
    workflows,
    approvals: createApprovals({
      runtime: fixture.runtime,
      records: approvalRecords(fixture.stores.sql),
      publicUrl: "http://svc.test",
      now: Date.now,
    }),
    reviewers: async (_, agent) => {
      asked.push(agent);
      return answers[agent] ?? null;
    },
  });
});
afterAll(() => fixture.dispose());

function callerOf(facts: Partial<Identity> = {}, more: Partial<ToolCaller> = {}): ToolCaller {
  return {
    tenant: "north",
    entry: "dispatch",
    identity: identityOf("north", facts),
    executionId: null,
    ceilings: [],
    requestId: null,
    workId: Bun.randomUUIDv7(),
    signal: new AbortController().signal,
    ...more,
  };
}
async function call(name: string, given: Json, caller = callerOf()): Promise<LooseJson> {
  const outcome = await tools.call(`svc.workflow.${name}`, caller, given);
  return outcome.status === "succeeded" ? outcome.result : outcome;
}
const start = async (name: string, given: object = {}) =>
  (await call("run", { name, ...given } as Json)).execution_id as string;

describe("runs", () => {
  test("run answers like its route; the same work is the same run", async () => {
    const caller = callerOf({}, { executionId: Bun.randomUUIDv7() });
    const first = await call("run", { name: "asks", input: { a: 1 }, intent: "to see" }, caller);
    expect(first).toMatchObject({ tool: "svc.workflow.run", execution_id: caller.workId, workflow_name: "asks" });
    expect(await call("run", { name: "asks", input: { a: 1 } }, caller)).toMatchObject({ execution_id: caller.workId });
    const record = await call("status", { execution_id: caller.workId });
    expect(record).toMatchObject({ intent: "to see", input: { a: 1 }, initiated_by: { kind: "agent" } });
  });

  test("lists, logs, pause, resume, cancel, retry and removal are the routes' own", async () => {
    const id = await start("asks");
    await fixture.waiting(token, id);
    const { items } = await call("executions.list", { workflow_name: "asks", status: "running" });
    expect(items.map((item: { id: string }) => item.id)).toContain(id);
    expect((await call("logs", { execution_id: id, limit: 2 })).events.length).toBe(2);
    expect((await call("pause", { execution_id: id })).paused_at).not.toBeNull();
    expect((await call("resume", { execution_id: id })).paused_at).toBeNull();
    expect(await call("cancel", { execution_id: id, reason: "enough" })).toMatchObject({ status: "cancel_requested" });
    expect(await call("retry", { execution_id: id })).toMatchObject({ retry_of: id, status: "running" });
    expect(await call("remove", { execution_id: id.toUpperCase() })).toMatchObject({ status: "removed" });
    expect(await call("status", { execution_id: id })).toMatchObject({ code: "workflow_execution_not_found" });
  });

  test("a signal is an agent's; it decides only where the state lets agents", async () => {
    const closed = await start("asks");
    const open = await start("open");
    await fixture.waiting(token, closed);
    await fixture.waiting(token, open);
    expect(await call("signal", { execution_id: closed, response: "yes" })).toMatchObject({
      status: "failed",
      code: "approver_not_allowed",
    });
    expect((await fixture.record(token, closed)).waiting_for).not.toBeNull();
    expect(await call("signal", { execution_id: open, response: "yes" })).toMatchObject({ status: "signal_sent" });
    expect((await fixture.ended(token, open)).state_outputs.ASK.decided_by).toMatchObject({ kind: "agent" });
  });

  test("both prefixes and every alias are the same tool; others are unknown", async () => {
    for (const name of ["aegis.workflow.wait", "svc.execute.wait", "aegis.execute.wait"]) {
      expect(tools.find(name)?.name).toBe("svc.workflow.wait");
    }
    for (const name of ["svc.workflow.approve", "svc.workflow.reject", "workflow.run"]) {
      expect(tools.find(name)).toBeUndefined();
    }
    expect(await tools.call("svc.workflow.approve", callerOf(), {})).toMatchObject({ code: "unknown_tool" });
  });

  test.each([
    ["run", {}, "invalid_arguments"],
    ["run", [], "invalid_arguments"],
    ["run", null, "invalid_arguments"],
    ["run", { name: "nothing" }, "workflow_not_found"],
    ["run", { name: "asks", blackboard: { input: 1 } }, "reserved_blackboard_key"],
    ["run", { name: "asks", intent: "\0" }, "invalid_arguments"],
    ["status", { execution_id: "abc" }, "invalid_arguments"],
    ["logs", { execution_id: Bun.randomUUIDv7(), limit: 501 }, "invalid_arguments"],
    ["signal", { execution_id: Bun.randomUUIDv7() }, "validation_failed"],
    ["cancel", { execution_id: Bun.randomUUIDv7(), reason: null }, "workflow_execution_not_found"],
    ["wait", { execution_id: "abc" }, "invalid_arguments"],
    ["wait", { execution_id: Bun.randomUUIDv7() }, "not_found"],
    ["wait", { execution_id: Bun.randomUUIDv7(), timeout_seconds: 3601 }, "invalid_arguments"],
  ] as [string, Json, string][])("%s with %j fails with %s", async (name, given, code) => {
    expect(await call(name, given)).toMatchObject({ status: "failed", code });
  });

  test("without the scope of its route a tool does nothing", async () => {
    const reader = callerOf({ scopes: new Set(["workflow:read"]) });
    expect(await call("run", { name: "asks" }, reader)).toMatchObject({ code: "insufficient_scope" });
  });
});

describe("wait", () => {
  test("it wakes with the end, and last_output is the record's final_output", async () => {
    const id = await start("says", { input: { word: "x" } });
    const waited = call("wait", { execution_id: id, poll_interval_seconds: 60 });
    await fixture.waiting(token, id);
    await fixture.call(token, "POST", `/v1/workflows/executions/${id}/signal`, { response: "yes" });
    const result = await waited;
    const record = await fixture.record(token, id);
    expect(record.final_output).toEqual({ word: "x" });
    expect(result).toMatchObject({ tool: "svc.workflow.wait", status: "completed", timed_out: false });
    expect([result.last_output, result.final_output, result.ended_at]).toEqual([
      record.final_output,
      record.final_output,
      record.ended_at,
    ]);
    expect(Object.keys(result)).not.toContain("waiting_for");
    const without = await start("open");
    await fixture.waiting(token, without);
    await call("signal", { execution_id: without, response: "yes" });
    expect((await call("wait", { execution_id: without })).last_output).toBeNull();
  });

  test("at the deadline it says what the run waits for", async () => {
    const id = await start("asks");
    const result = await call("wait", { execution_id: id, timeout_seconds: 1 });
    expect(result).toMatchObject({
      status: "running",
      timed_out: true,
      waiting_for: { kind: "approval" },
      ended_at: null,
    });
    expect(typeof result.message).toBe("string");
  });

  test("another tenant's run is not found; one that is removed meanwhile is not either", async () => {
    const id = await start("asks");
    expect(await call("wait", { execution_id: id }, callerOf({}, { tenant: "south" }))).toMatchObject({
      code: "not_found",
    });
    const waited = call("wait", { execution_id: id, poll_interval_seconds: 60 });
    await fixture.waiting(token, id);
    await call("remove", { execution_id: id });
    expect(await waited).toMatchObject({ status: "failed", code: "not_found" });
  });

  test("a caller that went away is not answered", async () => {
    const id = await start("asks");
    const gone = new AbortController();
    const waited = call("wait", { execution_id: id, poll_interval_seconds: 60 }, callerOf({}, { signal: gone.signal }));
    await fixture.waiting(token, id);
    gone.abort(new Error("gone"));
    expect(await waited.catch(String)).toContain("gone");
  });

  test("an execution does not wait for a run that it is part of", async () => {
    const id = await start("asks");
    const executionId = Bun.randomUUIDv7();
    const header = {
      hierarchy: { parent_execution_id: id, path: [id], depth: 1, swarm_id: null },
      workflow_execution_id: id,
    };
    const asking = workflowTools({
      runs: fixture.runs,
      approvals: { signal: () => Promise.reject(new Error("no test signals here")), lastDecision: async () => null },
      reviewers: async () => null,
      workflows: undefined as never,
      runtime: fakeRuntime({ state: () => ({ header }) }),
    });
    const outcome = await asking.call("svc.workflow.wait", callerOf({}, { executionId }), { execution_id: id });
    expect(outcome).toMatchObject({ status: "failed", code: "wait_on_ancestor" });
  });
});

describe("definitions", () => {
  const manifest = (name: string, version = "1.0.0") => `
apiVersion: svc.dev/v1
kind: Workflow
metadata: {name: ${name}, version: "${version}"}
spec:
  initial_state: A
  states:
    A: {kind: System, command: noop, transitions: []}
`;
  const operator = () => callerOf({ role: "admin" });

  test("create, get, export, list, versions, update, delete", async () => {
    const created = await call("create", { manifest_yaml: manifest("one") });
    expect(created).toMatchObject({ tool: "svc.workflow.create", name: "one", status: "registered" });
    expect(await call("create", { manifest_yaml: manifest("one") })).toMatchObject({ code: "workflow_version_exists" });
    expect(await call("update", { manifest_yaml: manifest("one"), force: true })).toMatchObject({ id: created.id });
    expect(await call("update", { manifest_yaml: manifest("one", "2.0.0") })).toMatchObject({ version: "2.0.0" });
    expect(await call("update", { manifest_yaml: manifest("none") })).toMatchObject({ code: "workflow_not_found" });
    expect((await call("export", { name: "one", version: "1.0.0" })).manifest_yaml).toBe(manifest("one"));
    expect(await call("get", { name: "one" })).toMatchObject({ version: "2.0.0" });
    expect((await call("versions", { name: "one" })).items.length).toBe(2);
    const { items } = await call("list", {});
    expect(items.map(({ name }: { name: string }) => name)).toContain("one");
    expect(await call("delete", { name: "one" })).toMatchObject({ status: "deleted" });
    expect(await call("get", { name: "one" })).toMatchObject({ code: "workflow_not_found" });
  });

  test("a bad manifest is a failure with its issues; validate stores nothing", async () => {
    const bad = manifest("bad").replace("command: noop", "command: noop, colour: red");
    const outcome = await call("create", { manifest_yaml: bad });
    expect([outcome.code, outcome.details.issues[0].path]).toEqual(["invalid_manifest", "spec.states.A.colour"]);
    expect(await call("validate", { manifest_yaml: bad })).toMatchObject({ valid: false });
    expect(await call("validate", { manifest_yaml: manifest("fine") })).toMatchObject({ valid: true });
    expect(await call("create", { manifest_yaml: "{" })).toMatchObject({ code: "malformed_body" });
  });

  test("promote and demote go by the caller's own authority", async () => {
    await call("create", { manifest_yaml: manifest("moving") });
    const member = callerOf({ kind: "tenant_user", membership: "member" });
    const claims = { name: "moving", user_id: "root", roles: ["admin"] };
    expect(await call("promote", claims, member)).toMatchObject({ code: "global_scope_forbidden" });
    expect(await call("promote", claims, operator())).toMatchObject({ new_scope: "global", success: true });
    expect(await call("demote", claims, operator())).toMatchObject({ new_scope: "tenant" });
  });

  test.each([
    [{ fair: '{"score":0.9,"confidence":0.9}' }, null],
    [{ fair: '{"score":0.9,"confidence":0.9}', mute: "no verdict" }, null],
    [{ fair: '{"score":0.7,"confidence":0.9,"reasoning":"no way out"}' }, "judge_rejected"],
    [{ fair: '{"score":0.9,"confidence":0.2}' }, "judge_rejected"],
    [{ mute: null }, "judge_rejected"],
  ])("judges %j, sure of it to 0.8: %p", async (said, code) => {
    answers = said;
    const judge_agents = Object.keys(said);
    const name = `reviewed-${Bun.randomUUIDv7().slice(-12)}`;
    const wish = { manifest_yaml: manifest(name), judge_agents, min_confidence: 0.8 };
    const outcome = await call("create", wish);
    expect(outcome.code ?? null).toBe(code);
    const found = await call("get", { name });
    expect(found.code ?? null).toBe(code === null ? null : "workflow_not_found");
  });

  test("what cannot be registered is not shown to judges", async () => {
    asked.length = 0;
    const bad = manifest("bad").replace("noop", "noop, colour: red");
    expect(await call("create", { manifest_yaml: bad, judge_agents: ["fair"] })).toMatchObject({
      code: "invalid_manifest",
    });
    expect(asked).toEqual([]);
  });
});

test("judges are executions of the caller's; one that does not complete has no say", async () => {
  const started: Record<string, unknown>[] = [];
  const review = reviewByExecutions({
    newId: Bun.randomUUIDv7,
    startAs: async (execution_id, _, request) => {
      started.push({ execution_id, ...request });
      return { execution_id } as Started;
    },
    settled: async (start) => ({ ...start, status: started.length === 1 ? "completed" : "failed", output: "said" }),
  });
  const agentId = Bun.randomUUIDv7();
  expect([await review(callerOf(), "fair", {}), await review(callerOf(), agentId, {})]).toEqual(["said", null]);
  expect(started).toMatchObject([
    { agentName: "fair", tenant: "north", starter: { userId: "user-of-north" } },
    { agentId, tenant: "north", origin: { trigger: "validator", exempt: true } },
  ]);
});

test("a run without a person is over by itself", async () => {
  fixture.register("north", definitionOf({ A: noop(["always", "B"]), B: noop() }, { name: "quick" }));
  const id = await start("quick");
  const { status, transition_count } = await fixture.ended(token, id);
  expect([status, transition_count]).toEqual(["completed", 2]);
});
