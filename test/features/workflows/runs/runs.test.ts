/** What can be done with runs: read, listed, signalled, paused, cancelled, retried, removed; by their tenant only. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import { definitionOf, human, subworkflow, ways } from "../../../actors/workflow/fixture.ts";
import { until } from "../../../harness/until.ts";
import { type Fixture, openFixture } from "./fixture.ts";

let fixture: Fixture;
let north: string;
let south: string;
const prefix = "/v1/workflows/executions";
beforeAll(async () => {
  fixture = await openFixture();
  north = fixture.caller("north", { userId: "ada", email: "ada@north.example" });
  south = fixture.caller("south");
  const again = (name: string) => human(ways(["rejected", "STOP"], ["approved", name]));
  const STOP = human([], { prompt: "Stop?" });
  fixture.register("north", definitionOf({ ASK: again("DONE"), DONE: human([]), STOP }, { name: "asks" }));
  fixture.register("north", definitionOf({ ASK: human(ways(["approved", "ASK"])) }, { name: "other" }));
  fixture.register("north", definitionOf({ ONE: human(ways(["approved", "TWO"])), TWO: human([]) }, { name: "steps" }));
  fixture.register("north", definitionOf({ IN: subworkflow([], { workflow: "inner" }) }, { name: "outer" }));
  fixture.register("north", definitionOf({ ASK: human([]) }, { name: "inner" }));
  fixture.register("north", definitionOf({ IN: subworkflow([], { workflow: "self" }) }, { name: "self" }));
});
afterAll(() => fixture.dispose());

const at = (id: string, action: string) => `${prefix}/${id}/${action}`;
const post = (id: string, action: string, body?: Json, token = north) =>
  fixture.call(token, "POST", at(id, action), body);
const waitingRun = async (name: string, body: Json = {}) => {
  const id = await fixture.start(north, name, body);
  await fixture.waiting(north, id);
  return id;
};
const list = async (query: string, token = north) => (await fixture.call(token, "GET", `${prefix}${query}`)).body;
const idsOf = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id);

describe("the record", () => {
  test("while it runs, state, waiting and finished results show", async () => {
    const id = await waitingRun("steps");
    const first = await fixture.record(north, id);
    expect(first).toMatchObject({
      id,
      execution_id: id,
      status: "running",
      current_state: "ONE",
      waiting_for: { kind: "approval", state_name: "ONE" },
      state_outputs: {},
      final_output: null,
      ended_at: null,
    });
    await post(id, "signal", { response: "yes" });
    const second = await fixture.record(north, id);
    expect([second.current_state, second.state_outputs.ONE.decision, second.blackboard.ONE.response]).toEqual([
      "TWO",
      "approved",
      "yes",
    ]);
  });

  test("the graph shows ways taken and times", async () => {
    const id = await waitingRun("steps");
    await post(id, "signal", { response: "yes" });
    const { status, body } = await fixture.call(north, "GET", at(id, "graph"));
    expect(status).toBe(200);
    expect(body.edges).toEqual([{ from: "ONE", condition: "approved", to: "TWO", taken: 1 }]);
    expect(body.steps.map((step: { state: string }) => step.state)).toEqual(["ONE", "TWO"]);
  });

  test("a bad id is 400, an unknown one 404", async () => {
    for (const [id, status, code] of [
      ["abc", 400, "invalid_execution_id"],
      [Bun.randomUUIDv7(), 404, "workflow_execution_not_found"],
    ] as const) {
      const answers = await Promise.all([
        fixture.call(north, "GET", `${prefix}/${id}`),
        fixture.call(north, "DELETE", `${prefix}/${id}`),
        fixture.call(north, "GET", at(id, "logs")),
        fixture.call(north, "GET", at(id, "logs/stream")),
        fixture.call(north, "GET", at(id, "graph")),
        post(id, "signal", { response: "yes" }),
        post(id, "cancel"),
        post(id, "pause"),
        post(id, "resume"),
        post(id, "retry"),
      ]);
      expect(answers.map((answer) => [answer.status, answer.body.code])).toEqual(answers.map(() => [status, code]));
    }
  });
});

describe("signals", () => {
  test.each([
    [{ response: "yes" }, "approved", "yes"],
    [{ response: "No" }, "rejected", "No"],
    [{ signal_name: "approve" }, "approved", "approve"],
    [{ signal_name: "reject", payload: "not now" }, "rejected", "not now"],
    [{ signal_name: "decision", payload: { response: "yes", note: 1 } }, "approved", "yes"],
    [{ signal_name: "decision", payload: { response: true } }, "approved", "true"],
    [{ signal_name: "hello" }, "responded", "hello"],
  ])("%j is %s", async (body, decision, response) => {
    const id = await waitingRun("asks");
    const { waiting_for } = await fixture.record(north, id);
    const answer = await post(id, "signal", body);
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({ status: "signal_sent", execution_id: id, approval_id: waiting_for.approval_id });
    const { state_outputs } = await fixture.record(north, id);
    expect(state_outputs.ASK).toMatchObject({ decision, response, decided_by: { sub: "ada" } });
  });

  test("neither field is 422; none open is 409; a finished run is 409 with its status", async () => {
    const id = await waitingRun("asks");
    expect((await post(id, "signal", {})).body.code).toBe("validation_failed");
    expect((await post(id, "signal")).body.code).toBe("validation_failed");
    expect((await post(id, "signal", { payload: "yes" })).body.code).toBe("validation_failed");
    expect((await post(id, "signal", { response: "\0" })).body.code).toBe("validation_failed");
    const outer = await fixture.start(north, "outer");
    expect((await post(outer, "signal", { response: "yes" })).body).toMatchObject({ code: "no_open_approval" });
    // A caller who comes too late is told what was decided.
    await post(id, "pause");
    await post(id, "signal", { response: "yes" });
    const tooLate = await post(id, "signal", { response: "no" });
    expect(tooLate.body).toMatchObject({ code: "no_open_approval", status: "approved" });
    expect(Date.parse(tooLate.body.decided_at)).toBeGreaterThan(0);
    await post(id, "cancel");
    const late = await post(id, "signal", { response: "yes" });
    expect([late.status, late.body.code, late.body.status]).toEqual([409, "execution_already_terminal", "cancelled"]);
  });

  test("approvers bind signals, too", async () => {
    const ASK = human([], { approvers: ["user:eve"] });
    fixture.register("north", definitionOf({ ASK }, { name: "guarded" }));
    const id = await waitingRun("guarded");
    const { status, body } = await post(id, "signal", { response: "yes" });
    expect([status, body.code]).toEqual([403, "approver_not_allowed"]);
    const eve = fixture.caller("north", { userId: "eve", kind: "tenant_user", membership: "member" });
    expect((await post(id, "signal", { response: "yes" }, eve)).status).toBe(202);
  });

  test("of many at once one decides", async () => {
    const id = await waitingRun("asks");
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(id, "signal", { response: "maybe" })));
    expect(answers.filter(({ status }) => status === 202).length).toBe(1);
    expect(answers.every(({ status }) => status === 202 || status === 409)).toBe(true);
  });
});

describe("the end", () => {
  test("cancel is 202 and repeats; what ended otherwise is 409", async () => {
    const id = await waitingRun("asks");
    const first = await post(id, "cancel", { reason: "enough" });
    expect([first.status, first.body]).toEqual([202, { status: "cancel_requested", execution_id: id }]);
    expect((await fixture.record(north, id)).status).toBe("cancelled");
    expect((await post(id, "cancel")).status).toBe(202);
    const done = await waitingRun("inner");
    await post(done, "signal", { response: "yes" });
    await fixture.ended(north, done);
    const late = await post(done, "cancel");
    expect([late.status, late.body.code, late.body.status]).toEqual([409, "execution_already_terminal", "completed"]);
    expect((await post(id, "cancel", { reason: "x".repeat(4097) })).status).toBe(422);
  });

  test("a blocking child is cancelled with its parent", async () => {
    const id = await fixture.start(north, "outer");
    const child = await until(async () => idsOf(await list(`?parent_execution_id=${id}`))[0], { what: "the child" });
    await fixture.waiting(north, child);
    await post(id, "cancel");
    expect((await fixture.ended(north, child)).status).toBe("cancelled");
  });

  test("DELETE cancels a live one and removes it with its log", async () => {
    const id = await waitingRun("asks");
    const gone = await fixture.call(north, "DELETE", `${prefix}/${id}`);
    expect([gone.status, gone.body]).toEqual([200, { status: "removed", execution_id: id, success: true }]);
    expect((await fixture.call(north, "GET", `${prefix}/${id}`)).status).toBe(404);
    expect((await fixture.call(north, "DELETE", `${prefix}/${id}`)).status).toBe(404);
    expect(idsOf(await list(""))).not.toContain(id);
  });
});

describe("pause and resume", () => {
  test("the answer counts, no state is entered before resume; repeats change nothing", async () => {
    const id = await waitingRun("steps");
    const paused = await post(id, "pause");
    expect([paused.status, paused.body.paused_at === null]).toEqual([200, false]);
    expect((await post(id, "pause")).body.paused_at).toBe(paused.body.paused_at);
    await post(id, "signal", { response: "yes" });
    const held = await fixture.record(north, id);
    expect([held.state_outputs.ONE.decision, held.state_visits]).toEqual(["approved", { ONE: 1 }]);
    const resumed = await post(id, "resume");
    expect([resumed.body.paused_at, resumed.body.current_state]).toEqual([null, "TWO"]);
    expect((await post(id, "resume")).status).toBe(200);
    await post(id, "cancel");
    expect((await post(id, "pause")).body.code).toBe("execution_already_terminal");
  });
});

describe("retry", () => {
  test("it enters the state it ended in with the earlier blackboard, as a run of its own", async () => {
    const id = await waitingRun("steps", { input: { word: "x" }, blackboard: { note: 1 } });
    expect((await post(id, "retry")).body.code).toBe("invalid_state");
    await post(id, "signal", { response: "yes" });
    await post(id, "cancel");
    const retried = await post(id, "retry");
    expect(retried.status).toBe(200);
    const { execution_id, retry_of } = retried.body;
    expect(retry_of).toBe(id);
    expect(retried.headers.get("location")).toBe(`${prefix}/${execution_id}`);
    const record = await fixture.record(north, execution_id);
    expect(record).toMatchObject({
      retry_of: id,
      current_state: "TWO",
      input: { word: "x" },
      parent_execution_id: null,
    });
    expect([record.blackboard.note, record.blackboard.ONE.decision]).toEqual([1, "approved"]);
    expect(record.blackboard.execution.id).toBe(execution_id);
    const first = (await post(id, "retry", { from_state: "ONE" })).body.execution_id;
    expect((await fixture.record(north, first)).current_state).toBe("ONE");
    expect((await post(id, "retry", { from_state: "NEVER" })).body.code).toBe("unknown_state");
    expect((await post(id, "retry", { from_state: "__proto__" })).body.code).toBe("unknown_state");
  });

  test("a completed run leaves nothing to retry", async () => {
    const id = await waitingRun("inner");
    await post(id, "signal", { response: "yes" });
    await fixture.ended(north, id);
    expect((await post(id, "retry")).body.code).toBe("nothing_to_retry");
  });

  test("under one Idempotency-Key it is retried once", async () => {
    const id = await waitingRun("inner");
    await post(id, "cancel");
    const retry = () => fixture.call(north, "POST", at(id, "retry"), {}, { "Idempotency-Key": id });
    expect((await retry()).body.execution_id).toBe((await retry()).body.execution_id);
  });
});

describe("lists", () => {
  test("newest first, paged without gap or repeat, filtered", async () => {
    const token = fixture.caller("west");
    fixture.register("west", definitionOf({ A: human([]) }, { name: "one" }));
    const two = fixture.register("west", definitionOf({ A: human([]) }, { name: "two" }));
    const ids: string[] = [];
    for (let index = 0; index < 9; index++) ids.push(await fixture.start(token, index % 3 === 0 ? "two" : "one"));
    await fixture.call(token, "POST", at(ids[0] ?? "", "cancel"));
    const newest = [...ids].reverse();
    expect(idsOf(await list("", token))).toEqual(newest);
    const paged: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await list(`?limit=4&cursor=${cursor}`, token);
      paged.push(...idsOf(page));
      expect(page.count).toBe(page.items.length);
      cursor = page.next_cursor;
    }
    expect(paged).toEqual(newest);
    expect(idsOf(await list("?workflow_name=two", token))).toEqual([6, 3, 0].map((index) => ids[index] ?? ""));
    expect(idsOf(await list(`?workflow_id=${two.workflow_id}&limit=1&offset=1`, token))).toEqual([ids[3] ?? ""]);
    expect(idsOf(await list("?status=cancelled,failed", token))).toEqual([ids[0] ?? ""]);
    expect((await list("?status=running", token)).count).toBe(8);
    const { items } = await list("?limit=1", token);
    const keys = Object.keys(items[0]);
    expect(keys.filter((key) => ["input", "blackboard", "state_outputs", "attachments"].includes(key))).toEqual([]);
    expect(keys).toContain("waiting_for");
    expect(await list("?limit=1", token)).toHaveProperty("executions");
  });

  test.each([
    ["?workflow_id=abc", 400, "invalid_id"],
    ["?status=done", 422, "validation_failed"],
    ["?parent_execution_id=abc", 422, "validation_failed"],
    ["?limit=501", 422, "validation_failed"],
    ["?cursor=abc", 422, "validation_failed"],
    [`?cursor=${Buffer.from('["x","y"]').toString("base64url")}`, 200, undefined],
  ])("%s: %i", async (query, status, code) => {
    const answer = await fixture.call(north, "GET", `${prefix}${query}`);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("counts and unfinished runs, for the definitions", async () => {
    const token = fixture.caller("svc-count");
    const { workflow_id } = fixture.register("svc-system", definitionOf({ A: human([]) }, { name: "everybody" }));
    const other = Bun.randomUUIDv7();
    const ids = [await fixture.start(token, "everybody"), await fixture.start(token, "everybody")];
    const foreign = await fixture.start(north, "everybody");
    expect(await fixture.runs.countByWorkflow("svc-count", [workflow_id, other])).toEqual(new Map([[workflow_id, 2]]));
    expect([...(await fixture.runs.unfinishedOf([workflow_id], 10))].sort()).toEqual([...ids, foreign].sort());
    expect((await fixture.runs.unfinishedOf([workflow_id], 1)).length).toBe(1);
    await fixture.runs.cancelOfWorkflow([workflow_id], "workflow_deleted");
    await until(async () => (await fixture.runs.unfinishedOf([workflow_id], 10)).length === 0, { what: "all to end" });
    expect((await fixture.record(north, foreign)).status).toBe("cancelled");
  });
});

describe("the log", () => {
  test("without gaps, paged, with what names the run", async () => {
    const id = await waitingRun("steps");
    await post(id, "signal", { response: "yes" });
    await post(id, "cancel", { reason: "enough" });
    const { status, body } = await fixture.call(north, "GET", at(id, "logs"));
    expect(status).toBe(200);
    expect(body).toMatchObject({ execution_id: id, limit: 100, offset: 0, count: body.total });
    type Event = { sequence: number; type: string; details: { execution_id: string } };
    const events: Event[] = body.events;
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({ type }) => type)).toEqual([
      "WorkflowExecutionStarted",
      "WorkflowStateEntered",
      "HumanInputRequested",
      "HumanInputResolved",
      "WorkflowStateExited",
      "WorkflowStateEntered",
      "HumanInputRequested",
      "WorkflowExecutionCancelled",
    ]);
    expect(events.every(({ details }) => details.execution_id === id)).toBe(true);
    expect(events[1]).toMatchObject({
      event_type: "WorkflowStateEntered",
      workflow_name: "steps",
      state_name: "ONE",
      temporal_run_id: id,
      details: { state_name: "ONE", visit: 1 },
    });
    const page = (await fixture.call(north, "GET", `${at(id, "logs")}?limit=2&offset=3`)).body;
    expect([page.count, page.total, page.events[0].sequence]).toEqual([2, body.total, 4]);
    expect((await fixture.call(north, "GET", `${at(id, "logs")}?offset=1000`)).body.events).toEqual([]);
    expect((await fixture.call(north, "GET", `${at(id, "logs")}?limit=501`)).status).toBe(422);
  });
});

test("another tenant's runs are 404 everywhere and in no list", async () => {
  const id = await waitingRun("asks");
  const answers = await Promise.all([
    fixture.call(south, "GET", `${prefix}/${id}`),
    fixture.call(south, "DELETE", `${prefix}/${id}`),
    fixture.call(south, "GET", at(id, "logs")),
    fixture.call(south, "GET", at(id, "logs/stream")),
    fixture.call(south, "GET", at(id, "graph")),
    post(id, "signal", { response: "yes" }, south),
    post(id, "cancel", {}, south),
    post(id, "pause", undefined, south),
    post(id, "resume", undefined, south),
    post(id, "retry", {}, south),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
  expect((await list("", south)).items).toEqual([]);
  const anything = {
    workflowId: null,
    workflowName: null,
    statuses: null,
    parentRunId: null,
    scheduleId: null,
    startedAfter: null,
    startedBefore: null,
  };
  expect(await fixture.records.list("south", anything, { limit: 10, offset: 0, after: null })).toEqual([]);
  expect((await list(`?parent_execution_id=${id}`, south)).items).toEqual([]);
  expect((await fixture.record(north, id)).waiting_for).not.toBeNull();
});
