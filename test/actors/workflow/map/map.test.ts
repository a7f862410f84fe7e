/** A Map and its child records, message by message. */
import { expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { State } from "../../../../actors/workflow/definition.ts";
import { reported } from "../../../../actors/workflow/run/map/progress.ts";
import { runElement } from "../../../../actors/workflow/run/record/record.ts";
import { agent, mapOf, noop, runId, subworkflow, system, ways, writes } from "../fixture.ts";
import { Company } from "./company.ts";

const numbers = (count: number): Json => Array.from({ length: count }, (_, at) => at);

test("items of noop are done in a few turns, and their results are in order", () => {
  const company = new Company(mapOf(noop(), numbers(250))).start().settle();
  expect(company.isCollecting).toBe(true);
  company.collect();
  const { status, succeeded, total, results, failed } = company.result;
  expect({ status, succeeded, total, failed }).toEqual({ status: "success", succeeded: 250, total: 250, failed: [] });
  expect((results as Json[]).length).toBe(250);
  expect([...company.rows.values()].every((row) => row.status === "completed" && row.attempts === 1)).toBe(true);
  expect(company.batches).toEqual([]);
  expect(company.state.status).toBe("completed");
});

const command = (change: object = {}) => system("true {{item}} {{seen}}", [], change);

const ended = (exit_code: number): Json => ({
  status: exit_code === 0 ? "success" : "failed",
  exit_code,
  stdout: "",
  stderr: "",
  duration_ms: 1,
  timed_out: false,
  truncated: false,
  attempts: 1,
  error: null,
  warnings: [],
});

/** Commands under way, by the item whose they are. */
function underWay(company: Company) {
  return company.asked
    .filter(({ id, of }) => company.sims.get(of)?.activities.has(id) === true)
    .map((work) => {
      const { env } = work.input as { readonly env: { readonly SVC_ARG_1: string } };
      return { ...work, index: Number(env.SVC_ARG_1) };
    });
}

function finish(company: Company, index: number, exit_code = 0): void {
  const work = underWay(company).find((one) => one.index === index);
  if (work === undefined) throw new Error(`item ${index} is not at work`);
  const sim = company.sims.get(work.of);
  if (sim === undefined) throw new Error("no such record");
  sim.now = company.now;
  sim.succeed(work.id, ended(exit_code));
  company.hearOf(work.of);
  company.settle();
}

const indices = (company: Company): number[] => underWay(company).map(({ index }) => index);

test("as many items are at work as the concurrency, over several records", () => {
  const company = new Company(mapOf(command(), numbers(7), { batch: 3, concurrency: 4 })).start().settle();
  expect(indices(company)).toEqual([0, 1, 2, 3]);
  finish(company, 1);
  // The place of the first record goes to the second one, which had none for its next item.
  expect(indices(company)).toEqual([0, 2, 3, 4]);
  for (const index of [0, 2, 3, 4, 5, 6]) finish(company, index);
  company.collect();
  expect(company.result.succeeded).toBe(7);
  expect([...company.begun.values()].every((count) => count === 1)).toBe(true);
});

test("a record has only what the items can read", () => {
  const company = new Company(mapOf(command(), numbers(1))).start().settle();
  const [[, { blackboard, definition, items }] = ["", { blackboard: {}, definition: null, items: [] }]] =
    company.batches;
  expect(Object.keys(blackboard)).toContain("seen");
  expect(Object.keys(blackboard)).not.toContain("unseen");
  expect(Object.keys(definition?.states ?? {})).toEqual(["EACH"]);
  expect(items).toEqual([0]);
  const { env } = (company.asked[0]?.input ?? {}) as { env?: Record<string, string> };
  expect(env).toMatchObject({
    SVC_WORKFLOW_EXECUTION_ID: runId,
    SVC_STATE_NAME: "EACH",
    SVC_ARG_1: "0",
    SVC_ARG_2: "all",
  });
});

test("an item sees its own value, its index, and nothing that others write", () => {
  const item = writes({ mine: "{{index}}:{{item.name}}:{{mine}}", EACH: "x" });
  const list = [{ name: "a" }, { name: "b" }];
  const company = new Company(mapOf(item, list)).start().settle();
  // A state's name is none that it may write.
  company.settle();
  expect([...company.rows.values()].map(({ error }) => error)).toEqual([
    "reserved_blackboard_key",
    "reserved_blackboard_key",
  ]);
  const good = new Company(mapOf(writes({ mine: "{{index}}:{{item.name}}:{{mine}}" }), list))
    .start()
    .settle()
    .collect();
  expect(good.result.succeeded).toBe(2);
  expect(good.state.blackboard.mine).toBeUndefined();
  expect(good.state.blackboard.item).toBeUndefined();
});

for (const [items, code] of [
  ["{{input.none}}", "items_not_a_list"],
  ['{"a":1}', "items_not_a_list"],
  ["[1,", "items_not_a_list"],
  [Array.from({ length: 10_001 }, () => 0), "too_many_items"],
  [Array.from({ length: 9 }, () => "x".repeat(1_000_000)), "items_too_large"],
] as const) {
  test(`${code} for ${JSON.stringify(items).slice(0, 20)}`, () => {
    const company = new Company(mapOf(noop(), items as Json)).start().settle();
    company.tell(runId, "advance", { entry: 1 });
    expect(company.result).toMatchObject({ status: "failed", error: code });
  });
}

test("a list of nothing is done at once", () => {
  const company = new Company(mapOf(noop(), "[]")).start().settle();
  company.tell(runId, "advance", { entry: 1 });
  expect(company.result).toEqual({ status: "success", results: [], failed: [], succeeded: 0, total: 0 });
  expect(company.hasEnded).toBe(true);
});

for (const [name, tolerate, failures, isLost] of [
  ["one more than a count", { count: 1 }, 2, true],
  ["a count", { count: 2 }, 2, false],
  ["one more than a share", { percent: 20 }, 2, true],
  ["a share", { percent: 40 }, 2, false],
] as const) {
  test(`failures: ${name} ${isLost ? "ends the Map" : "is borne"}`, () => {
    const company = new Company(mapOf(command(), numbers(5), { batch: 2, concurrency: 3, tolerate })).start().settle();
    for (let index = 0; index < failures; index++) finish(company, index, 1);
    expect(company.isCollecting).toBe(isLost);
    if (!isLost) for (let index = failures; index < 5; index++) finish(company, index);
    company.settle();
    expect(underWay(company)).toEqual([]);
    expect(company.batches).toEqual([]);
    company.collect();
    expect(company.result).toMatchObject({
      status: isLost ? "failed" : "success",
      total: 5,
      succeeded: isLost ? 0 : 3,
    });
    expect(company.result.failed).toEqual([0, 1].map((index) => ({ index, error: "command_failed" })));
    expect(company.result.error).toBe(isLost ? "too_many_failed" : (undefined as never));
    if (isLost) expect(company.rows.get(2)?.status).toBe("cancelled");
  });
}

test("an item that failed is tried again by order, and one is given up", () => {
  const company = new Company(mapOf(command(), numbers(4), { concurrency: 2, batch: 2, tolerate: { count: 1 } }));
  company.start().settle();
  finish(company, 0, 1);
  expect(company.item(0, "cancel")).toEqual({ outcome: "refused", status: "failed" });
  expect(company.item(1, "retry")).toEqual({ outcome: "refused", status: "running" });
  expect(company.item(3, "retry")).toEqual({ outcome: "refused", status: "pending" });
  expect(company.item(4, "retry")).toEqual({ outcome: "no_item" });
  expect(company.item(0, "retry")).toEqual({ outcome: "done", visit: 1 });
  expect(company.rows.get(0)).toMatchObject({ status: "pending", attempts: 1 });
  finish(company, 1);
  expect(indices(company).sort()).toEqual([0, 2]);
  expect(company.rows.get(0)).toMatchObject({ status: "running", attempts: 2 });
  expect(company.item(2, "cancel")).toEqual({ outcome: "done", visit: 1 });
  expect(company.item(2, "cancel")).toEqual({ outcome: "done", visit: 1 });
  finish(company, 0);
  finish(company, 3);
  company.collect();
  expect(company.result).toMatchObject({ status: "success", succeeded: 3, failed: [], total: 4 });
  expect((company.result.results as Json[])[2]).toBeNull();
  expect(company.item(2, "retry")).toEqual({ outcome: "not_running" });
});

test("an item that no record was given can be given up and taken back", () => {
  const company = new Company(mapOf(command(), numbers(6), { concurrency: 1, batch: 2 })).start().settle();
  expect(company.item(3, "cancel")).toMatchObject({ outcome: "done" });
  expect(company.item(4, "cancel")).toMatchObject({ outcome: "done" });
  expect(company.item(4, "retry")).toMatchObject({ outcome: "done" });
  expect(company.rows.get(4)?.status).toBe("pending");
  for (const index of [0, 1, 2]) finish(company, index);
  expect(company.rows.get(3)?.status).toBe("cancelled");
  for (const index of [4, 5]) finish(company, index);
  company.collect();
  expect(company.result).toMatchObject({ status: "success", succeeded: 5 });
});

test("a retry of the item's own state is an attempt of the item", () => {
  const retry = { attempts: 2, delay_ms: 1_000, backoff: 2, max_delay_ms: 60_000, on: ["all"] };
  const company = new Company(mapOf(command({ retry }), numbers(1))).start().settle();
  finish(company, 0, 1);
  const [[id] = [""]] = company.batches;
  company.now += 1_000;
  company.sims.get(id)?.fireNext();
  company.hearOf(id);
  company.settle();
  finish(company, 0);
  expect(company.rows.get(0)).toMatchObject({ status: "completed", attempts: 2 });
});

test("what a run is told reaches its items: pause, cancel, erase, its own deadline", () => {
  const paused = new Company(mapOf(command(), numbers(3), { concurrency: 1 })).start().settle();
  paused.ask(runId, "pause", {});
  paused.settle();
  finish(paused, 0);
  expect(underWay(paused)).toEqual([]);
  paused.ask(runId, "resume", {});
  paused.settle();
  expect(indices(paused)).toEqual([1]);
  const ended = new Company(mapOf(command(), numbers(1))).start().settle();
  ended.ask(runId, "pause", {});
  ended.settle();
  finish(ended, 0);
  // What is under way comes to its end, the Map as well.
  ended.collect();
  expect(ended.result.status).toBe("success");
  for (const [type, body, status] of [
    ["cancel", { reason: null }, "cancelled"],
    ["deadline", {}, "timed_out"],
    ["erase", {}, null],
  ] as const) {
    const company = new Company(mapOf(command(), numbers(3), { concurrency: 2 }), { timeout_ms: 60_000 })
      .start()
      .settle();
    company.now += 60_000;
    if (type === "deadline") company.tell(runId, type, body);
    else company.ask(runId, type, body);
    company.settle();
    expect(underWay(company)).toEqual([]);
    expect(company.batches).toEqual([]);
    expect((company.state as { status?: string } | null)?.status ?? null).toBe(status);
    expect([...company.rows.values()].map((row) => row.status)).toEqual(
      status === null ? [] : ["cancelled", "cancelled"],
    );
    expect(company.hasEnded || company.isGone).toBe(true);
  }
});

test("the timeout of the Map ends its items", () => {
  const company = new Company(mapOf(command(), numbers(3), { timeout_ms: 5_000 })).start().settle();
  company.now += 5_000;
  company.run.now = company.now;
  company.run.fireNext();
  company.hearOf(runId);
  company.settle();
  expect(company.result).toMatchObject({ status: "failed", error: "state_timeout", timed_out: true, total: 3 });
  expect(company.batches).toEqual([]);
});

test("an item's start is waited for without end, and its time begins with it", () => {
  const item = agent([], { timeout_ms: 60_000 });
  const company = new Company(mapOf(item, numbers(1))).start().settle();
  const [work] = company.asked;
  expect(work?.input).toMatchObject({ start_by: Number.MAX_SAFE_INTEGER, timeout_ms: 60_000 });
  const sim = company.sims.get(work?.of ?? "");
  if (sim === undefined || work === undefined) throw new Error("nothing was started");
  sim.fireNext();
  expect(company.rows.get(0)?.status).toBe("running");
  sim.now += 30_000;
  sim.succeed(work.id, { agent_id: "id-of-writer" });
  company.now = sim.now;
  company.hearOf(work.of);
  expect([...sim.timers.values()].map(({ at }) => at - sim.now)).toEqual([60_000]);
  expect(company.rows.get(0)).toMatchObject({ status: "running", execution_id: work.id.slice("agent:".length) });
  company.now += 60_000;
  sim.fireNext();
  company.hearOf(work.of);
  company.settle();
  expect(company.rows.get(0)).toMatchObject({ status: "failed", error: "state_timeout" });
});

test("a workflow that an item runs is heard by its record", () => {
  const company = new Company(mapOf(subworkflow([], { result_key: null }), numbers(1))).start().settle();
  const [work] = company.asked;
  if (work === undefined) throw new Error("nothing was started");
  const { child_execution_id } = work.input as { child_execution_id: string };
  company.sims.get(work.of)?.succeed(work.id, { workflow_id: "w", workflow_name: "inner" });
  company.tell(work.of, "run_ended", {
    child_execution_id,
    workflow_id: "w",
    status: "completed",
    iterations: 1,
    final_state: "X",
    output: { answer: 42 },
    final_output: null,
    blackboard: {},
    error: null,
    error_code: null,
  });
  company.settle().collect();
  expect(company.rows.get(0)).toMatchObject({ status: "completed", execution_id: child_execution_id });
  expect((company.result.results as { output: Json }[])[0]?.output).toEqual({ answer: 42 });
});

test("a tool call of an item that waits for a person is what the run waits for", () => {
  const company = new Company(mapOf(agent([]), numbers(2), { timeout_ms: 60_000 })).start().settle();
  const [work] = company.asked;
  if (work === undefined) throw new Error("nothing was started");
  company.sims.get(work.of)?.succeed(work.id, { agent_id: "id-of-writer" });
  const waiting = { approval_id: "a-1", tool: "fs.write", expires_at: company.now + 9_000 };
  const child_execution_id = work.id.slice("agent:".length);
  company.tell(work.of, "child_waiting", { child_execution_id, waiting, since: company.now, most_ms: 9_000 });
  company.settle();
  expect(company.state.current?.waits?.map((one) => one.waiting?.approval_id)).toEqual(["a-1"]);
  expect(company.state.current?.deadline_at).toBe(company.now + 69_000);
  company.item(0, "cancel");
  expect(company.state.current?.waits).toEqual([]);
  expect(ways()).toEqual([]);
});

test("progress is told at most once a second", () => {
  const company = new Company(mapOf(command(), numbers(6), { concurrency: 6, batch: 6 })).start().settle();
  for (const [index, pause] of [100, 100, 900, 100, 1_000, 0].entries()) {
    company.now += pause;
    finish(company, index);
  }
  const told = company.events
    .filter(({ type }) => type === "WorkflowMapProgress")
    .map(({ details }) => details.succeeded);
  expect(told).toEqual([3, 5, 6]);
});

test("an item that an order just tries again ends no Map", () => {
  const company = new Company(mapOf(command(), numbers(1), { concurrency: 1, batch: 1 }));
  company.joins = () => false;
  company.start();
  company.post();
  company.ask(runId, "item", { state: "EACH", index: 0, order: "retry" });
  finish(company, 0, 3);
  expect(company.isCollecting).toBe(false);
  expect(company.rows.get(0)).toMatchObject({ status: "running", attempts: 2 });
});

test("a Map that failed is tried again with all of its items, and forgets those before", () => {
  const retry = { attempts: 2, delay_ms: 1_000, backoff: 2, max_delay_ms: 60_000, on: ["too_many_failed"] };
  const company = new Company(mapOf(command(), numbers(2), { concurrency: 2, batch: 1, retry })).start().settle();
  finish(company, 0, 1);
  company.collect();
  expect(company.state.current?.work.of).toBe("backoff");
  expect(company.batches).toEqual([]);
  company.now += 1_000;
  company.run.now = company.now;
  company.run.fireNext();
  company.hearOf(runId);
  company.settle();
  expect([...company.rows.values()].map(({ status, attempts }) => [status, attempts])).toEqual([
    ["running", 1],
    ["running", 1],
  ]);
  for (const index of [0, 1]) finish(company, index);
  company.collect();
  expect(company.result).toMatchObject({ status: "success", succeeded: 2, failed: [] });
});

test("of reports the newest counts, whichever comes last", () => {
  const counts = { succeeded: 0, failed: 1, cancelled: 0, todo: 0, returned: 0, orders: 0 };
  const open = { id: "a", first: 0, size: 2, granted: 2, ordered: 0, ...counts, seq: 0 };
  const [newest] = reported([open], { batch: "a", ...counts, seq: 2, failed: 0, succeeded: 2, is_gone: false });
  expect(newest).toMatchObject({ seq: 2, failed: 0, succeeded: 2, granted: 2 });
  if (newest === undefined) throw new Error("the record is gone");
  expect(reported([newest], { batch: "a", ...counts, seq: 1, is_gone: false })).toEqual([newest]);
  expect(reported([newest], { batch: "b", ...counts, seq: 9, is_gone: true })).toEqual([newest]);
  expect(reported([newest], { batch: "a", ...counts, seq: 3, is_gone: true })).toEqual([]);
});

test("a signal goes to the item that has waited longest for it, and to the next one", () => {
  const wait = { ...noop(), kind: "Wait", for: { what: "signal", signal: "go" } } as State;
  const company = new Company(mapOf(wait, numbers(3), { concurrency: 2, batch: 2 })).start().settle();
  const signal = (payload: Json) => {
    const call = company.ask(runId, "signal", { signal_name: "go", payload, work_id: null });
    company.settle();
    return company.run.answers.get(call);
  };
  expect(signal("first")).toEqual({ outcome: "taken" });
  expect(company.item(1, "cancel")).toMatchObject({ outcome: "done" });
  expect(company.rows.get(2)?.status).toBe("running");
  expect(signal("second")).toEqual({ outcome: "taken" });
  company.collect();
  const results = company.result.results as ({ payload: Json } | null)[];
  expect(results.map((one) => one?.payload ?? null)).toEqual(["first", null, "second"]);
});

test("the run waits for what its items do, and says which is the first to be over", () => {
  const wait = { ...noop(), kind: "Wait", for: { what: "seconds", seconds: "{{item}}" } } as State;
  const company = new Company(mapOf(wait, [30, 10, 20], { concurrency: 3, batch: 2 })).start().settle();
  const waiting = () => runElement({ execution_id: runId, tenant_id: "north" }, company.state).waiting_for;
  const at = (seconds: number) => new Date(company.now + seconds * 1_000).toISOString();
  expect(waiting()).toEqual({ kind: "time", state_name: "EACH", expires_at: at(10) });
  company.item(1, "cancel");
  expect(waiting()?.expires_at).toBe(at(20));
  company.item(2, "cancel");
  company.item(0, "cancel");
  expect(waiting()).toBeNull();
});

test("a large blackboard is copied into few records, one in a turn", () => {
  const item = system("true {{item}}", [], { env: { SIZE: "{{#if seen}}1{{/if}}" } });
  const map = mapOf(item, numbers(12), { concurrency: 10, batch: 1 });
  const company = new Company(map, {}, { seen: "x".repeat(7 * 1_048_576) }).start();
  expect(company.batches.length).toBeLessThan(5);
  company.settle();
  // As many as go into 64 MiB may be open at once: two items each, where one was asked for.
  expect(company.batches.map(([, { items }]) => items?.length)).toEqual([2, 2, 2, 2, 2]);
  expect(indices(company)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});
