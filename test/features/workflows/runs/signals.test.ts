/** Signals to runs that wait, and branches side by side, over real stores and actors. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { approval as approvalActor } from "../../../../actors/approval/approval.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { branches, definitionOf, human, noop, subworkflow, wait, ways } from "../../../actors/workflow/fixture.ts";
import { until } from "../../../harness/until.ts";
import { type Fixture, openFixture } from "./fixture.ts";

let fixture: Fixture;
let north: string;
const prefix = "/v1/workflows/executions";

beforeAll(async () => {
  fixture = await openFixture();
  north = fixture.caller("north", { userId: "ada", email: "ada@north.example" });
  const states = Array.from({ length: 12 }, (_, at): [string, ReturnType<typeof wait>] => [
    `W${at}`,
    wait("go", at === 11 ? [] : ways(["always", `W${at + 1}`])),
  ]);
  fixture.register("north", definitionOf(Object.fromEntries(states), { name: "chain" }));
  fixture.register(
    "north",
    definitionOf({ ASK: human(ways(["approved", "HOLD"])), HOLD: wait("go", []) }, { name: "later" }),
  );
  const both = branches("SPLIT", 2, { left: { HOLD: wait("go", []) }, right: { ASK: human([]) } });
  fixture.register("north", definitionOf(both, { name: "both" }));
  const sides = {
    asks: { ASK: human([]) },
    inner: { IN: subworkflow([], { workflow: "inner" }) },
    waits: { HOLD: wait("go", []) },
  };
  const race = branches("SPLIT", 1, sides, ways(["always", "DONE"]));
  fixture.register("north", definitionOf({ ...race, DONE: noop() }, { name: "race" }));
  fixture.register("north", definitionOf({ ASK: human([]) }, { name: "inner" }));
  const bad = branches("SPLIT", 2, { left: { L: human([]) }, right: { R: human([]) } });
  fixture.register("north", definitionOf(bad, { name: "all" }));
});
afterAll(() => fixture.dispose());

const post = (id: string, action: string, body?: Json, headers = {}) =>
  fixture.call(north, "POST", `${prefix}/${id}/${action}`, body, headers);
const signal = (id: string, body: Json, headers = {}) => post(id, "signal", body, headers);
const start = async (name: string) => {
  const id = await fixture.start(north, name);
  await fixture.waiting(north, id);
  return id;
};
const approvalsOf = async (id: string): Promise<string[]> => {
  const { body } = await fixture.call(north, "GET", `${prefix}/${id}/logs?limit=500`);
  const asked = body.events.filter(({ type }: { type: string }) => type === "HumanInputRequested");
  return asked.map(({ details }: { details: { approval_id: string } }) => details.approval_id);
};

test("one that came before its Wait is buffered, and the Wait goes on at once", async () => {
  const id = await start("later");
  await post(id, "pause");
  await signal(id, { signal_name: "approve" });
  expect(await signal(id, { response: "yes" })).toMatchObject({ status: 409, body: { code: "no_open_approval" } });
  const answer = await signal(id, { signal_name: "go", payload: { paid: true } });
  expect([answer.status, answer.body]).toEqual([202, { status: "buffered", execution_id: id }]);
  await post(id, "resume");
  expect((await fixture.ended(north, id)).state_outputs.HOLD).toEqual({
    status: "success",
    by: "signal",
    waited_ms: 0,
    payload: { paid: true },
    timed_out: false,
  });
  expect(await signal(id, { signal_name: "go" })).toMatchObject({
    status: 409,
    body: { code: "execution_already_terminal", status: "completed" },
  });
});

test("the 101st of a run is 429; a name decides no approval that opens later", async () => {
  const id = await start("later");
  await post(id, "pause");
  await signal(id, { signal_name: "approve" });
  const answers = await Promise.all(Array.from({ length: 100 }, () => signal(id, { signal_name: "approve" })));
  expect(answers.every(({ status, body }) => status === 202 && body.status === "buffered")).toBe(true);
  expect(await signal(id, { signal_name: "approve" })).toMatchObject({
    status: 429,
    body: { code: "signal_buffer_full" },
  });
  await post(id, "cancel");
});

test("what it carries is bounded", async () => {
  const id = await start("chain");
  const large = await signal(id, { signal_name: "go", payload: "x".repeat(65_535) });
  expect([large.status, large.body.issues?.[0]?.path]).toEqual([422, "payload"]);
  expect((await signal(id, { signal_name: "g".repeat(257) })).status).toBe(422);
  expect((await signal(id, { signal_name: "go", payload: "x".repeat(65_534) })).status).toBe(202);
});

test("a Wait's name to the Wait, any other to the approval beside it", async () => {
  const id = await start("both");
  const [approval] = await approvalsOf(id);
  const other = await signal(id, { signal_name: "yes" });
  expect(other.body).toEqual({ status: "signal_sent", execution_id: id, approval_id: approval });
  expect((await fixture.record(north, id)).waiting_for).toEqual({
    kind: "signal",
    state_name: "HOLD",
    expires_at: null,
  });
  const named = await signal(id, { signal_name: "go", response: "fine" });
  expect([named.status, named.body]).toEqual([202, { status: "signal_sent", execution_id: id }]);
  const { state_outputs, status } = await fixture.ended(north, id);
  expect(status).toBe("completed");
  expect(state_outputs.SPLIT.branches).toMatchObject({ left: { payload: "fine" }, right: { decision: "approved" } });
});

test("many at once: each is taken once, and under one key it is one", async () => {
  const id = await start("chain");
  const twice = Array.from({ length: 24 }, (_, at) =>
    signal(id, { signal_name: "go", payload: Math.floor(at / 2) }, { "Idempotency-Key": `k-${Math.floor(at / 2)}` }),
  );
  const answers = await Promise.all(twice);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  const { status, state_outputs } = await fixture.ended(north, id);
  const payloads = Object.values<{ payload: number }>(state_outputs).map(({ payload }) => payload);
  expect(status).toBe("completed");
  expect(payloads.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 12 }, (_, at) => at));
});

test("the first branch ends the others: their approvals and runs as well", async () => {
  const id = await start("race");
  const [approval = ""] = await approvalsOf(id);
  const child = await until(async () => {
    const { items } = (await fixture.call(north, "GET", `${prefix}?parent_execution_id=${id}`)).body;
    return items.length === 1 && items[0].id;
  });
  expect((await signal(id, { signal_name: "go" })).status).toBe(202);
  const { state_outputs, current_state } = await fixture.ended(north, id);
  expect(current_state).toBe("DONE");
  expect(state_outputs.SPLIT).toMatchObject({ status: "success", joined: ["waits"] });
  expect((await fixture.ended(north, child)).status).toBe("cancelled");
  expect((await fixture.runtime.of(approvalActor).at("north", approval).read())?.status).toBe("withdrawn");
  const { steps } = (await fixture.call(north, "GET", `${prefix}/${id}/graph`)).body;
  expect(steps.map(({ state, status }: { state: string; status: string }) => `${state} ${status}`)).toEqual([
    "SPLIT success",
    "ASK cancelled",
    "IN cancelled",
    "HOLD success",
    "DONE success",
  ]);
});

test("join_not_met fails the run; no retry begins inside a branch", async () => {
  const id = await start("all");
  await signal(id, { response: "no" });
  expect(await fixture.ended(north, id)).toMatchObject({ status: "failed", error_code: "join_not_met" });
  const inside = await post(id, "retry", { from_state: "R" });
  expect([inside.status, inside.body.code, inside.body.issues[0].code]).toEqual([
    422,
    "unknown_state",
    "state_in_branch",
  ]);
  const again = (await post(id, "retry")).body.execution_id;
  await fixture.waiting(north, again);
  expect((await fixture.record(north, again)).state_visits).toEqual({ SPLIT: 1, L: 1, R: 1 });
});
