/** Maps over real stores: their items' rows, results by reference, starts that wait for room, orders for single items. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { definitionOf, human, mapOf, noop, subworkflow, ways, writes } from "../../../actors/workflow/fixture.ts";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { until } from "../../../harness/until.ts";
import { type Fixture, openFixture } from "./fixture.ts";

let fixture: Fixture;
let north: string;
const inner = (name: string) => subworkflow([], { workflow: name, result_key: null, input: "{{json item}}" });
beforeAll(async () => {
  fixture = await openFixture();
  north = fixture.caller("north", { userId: "ada", email: "ada@north.example" });
  const list = "{{input.list}}";
  const register = (name: string, states: Parameters<typeof definitionOf>[0]) =>
    fixture.register("north", definitionOf(states, { name }));
  register("counts", { EACH: mapOf(noop(), list), END: noop() });
  register("large", { EACH: mapOf(inner("echo"), list, { batch: 2 }) });
  register("asks", { EACH: mapOf(inner("person"), list, { batch: 2, concurrency: 2, tolerate: { count: 1 } }) });
  register("strict", { EACH: mapOf(inner("person"), list, { batch: 3, concurrency: 2 }) });
  register("echo", { SAY: writes({ said: "{{input.text}}" }) });
  register("person", { ASK: human(ways(["approved", "END"])), END: noop() });
});
afterAll(() => fixture.dispose());

const run = (id: string) => `/v1/workflows/executions/${id}`;
const startOf = (name: string, list: Json) => fixture.start(north, name, { input: { list } });

async function itemsOf(id: string, query = ""): Promise<LooseJson> {
  const { status, body } = await fixture.call(north, "GET", `${run(id)}/items?state=EACH${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}
const order = (id: string, index: number, what: string, state = "EACH") =>
  fixture.call(north, "POST", `${run(id)}/items/${index}/${what}`, { state });

/** Waits until an item is as wished, and what it started waits for a person. @returns the id of that */
const asking = (id: string, index: number, attempts = 1): Promise<string> =>
  until(
    async () => {
      const item = (await itemsOf(id)).items[index];
      if (item.status !== "running" || item.attempts !== attempts || item.execution_id === null) return null;
      const { waiting_for } = await fixture.record(north, item.execution_id);
      return waiting_for === null ? null : item.execution_id;
    },
    { what: `item ${index} to wait for a person` },
  );
const decide = (id: string, response: string) => fixture.call(north, "POST", `${run(id)}/signal`, { response });

describe("items", () => {
  test("a long list: results in order, pages, and what is refused", async () => {
    const list = Array.from({ length: 1_234 }, (_, at) => at);
    const id = await startOf("counts", list);
    const { status, blackboard } = await fixture.ended(north, id);
    expect(status).toBe("completed");
    const { results, ...result } = blackboard.EACH;
    expect(result).toEqual({ status: "success", failed: [], succeeded: 1_234, total: 1_234 });
    expect(results.map((one: LooseJson) => one.status)).toEqual(list.map(() => "success"));
    const first = await itemsOf(id, "&limit=500");
    const second = await itemsOf(id, `&limit=500&cursor=${first.next_cursor}`);
    const third = await itemsOf(id, `&limit=500&cursor=${second.next_cursor}`);
    const all = [first, second, third].flatMap(({ items }) => items);
    expect(all.map(({ index }) => index)).toEqual(list);
    expect(third.next_cursor).toBeNull();
    expect(all[7]).toEqual({
      index: 7,
      status: "completed",
      attempts: 1,
      result: results[7],
      error: null,
      execution_id: null,
    });
    expect((await itemsOf(id, "&status=failed")).items).toEqual([]);
    expect((await itemsOf(id, "&visit=2")).items).toEqual([]);
    const refused = async (path: string, token = north) => {
      const { status, body } = await fixture.call(token, "GET", path);
      return [status, body.code];
    };
    expect(await refused(`${run(id)}/items?state=END`)).toEqual([422, "unknown_state"]);
    expect(await refused(`${run(id)}/items?state=constructor`)).toEqual([422, "unknown_state"]);
    expect(await refused(`${run(id)}/items`)).toEqual([422, "validation_failed"]);
    const south = fixture.caller("south");
    expect(await refused(`${run(id)}/items?state=EACH`, south)).toEqual([404, "workflow_execution_not_found"]);
    const late = await order(id, 7, "retry");
    expect([late.status, late.body.code]).toEqual([409, "invalid_state"]);
    // No child record is left, and none is ever found as a run.
    expect([...(await fixture.stores.sql`select from workflow_batches`)]).toEqual([]);
    const { body } = await fixture.call(north, "GET", `${run(id)}/logs?limit=500`);
    expect(body.events.map(({ type }: { type: string }) => type)).toContain("WorkflowMapProgress");
  });

  test("results of 65 KiB come by reference, whole among the items", async () => {
    const texts = ["short", "x".repeat(65 * 1024), "also short"].map((text) => ({ text }));
    const id = await startOf("large", texts);
    const { blackboard, children = [] } = await fixture.ended(north, id);
    expect(children).toEqual([]);
    const [short, large, other] = blackboard.EACH.results;
    expect([short, other].map((one) => one.blackboard.said)).toEqual(["short", "also short"]);
    const { body } = await fixture.call(north, "GET", large.ref);
    expect(body.items.map(({ index }: { index: number }) => index)).toEqual([1]);
    expect(body.items[0].result.blackboard.said).toBe(texts[1]?.text);
    const whole = JSON.stringify(body.items[0].result);
    expect(large.bytes).toBe(Buffer.byteLength(whole));
    expect(large.sha256).toBe(createHash("sha256").update(whole).digest("hex"));
  });

  test("a start rate below the item count delays and fails nothing", async () => {
    const { length: before } = fixture.admitted;
    const id = await startOf("asks", [{ text: "a" }, { text: "b" }, { text: "c" }]);
    for (const index of [0, 1]) await asking(id, index);
    fixture.refuse(new Problem("rate_limited", "Too many"));
    await decide(await asking(id, 0), "yes");
    await until(async () => (await itemsOf(id)).items[2].status === "running", { what: "the last item to begin" });
    await decide(await asking(id, 1), "yes");
    await until(async () => (await itemsOf(id)).items[1].status === "completed", { what: "another item to end" });
    expect((await itemsOf(id)).items[2]).toMatchObject({ status: "running", execution_id: null });
    fixture.refuse(null);
    await decide(await asking(id, 2), "yes");
    const { status, blackboard } = await fixture.ended(north, id);
    expect([status, blackboard.EACH.succeeded]).toEqual(["completed", 3]);
    // The run, and one start for each item.
    expect(fixture.admitted.length - before).toBe(4);
    const { body } = await fixture.call(north, "GET", `/v1/workflows/executions?parent_execution_id=${id}`);
    expect(body.items.map((one: LooseJson) => [one.workflow_name, one.parent_execution_id])).toEqual(
      [0, 1, 2].map(() => ["person", id]),
    );
  });

  test("one item is tried again and one is cancelled while the Map runs", async () => {
    const id = await startOf("asks", [{}, {}, {}]);
    await decide(await asking(id, 0), "no");
    await until(async () => (await itemsOf(id)).items[0].status === "failed", { what: "an item to fail" });
    const again = await order(id, 0, "retry");
    expect([again.status, again.body.index, again.body.attempts]).toEqual([200, 0, expect.any(Number)]);
    const given = await asking(id, 1);
    const cancelled = await order(id, 1, "cancel");
    expect(cancelled.body).toMatchObject({ index: 1, status: "cancelled", execution_id: given, result: null });
    expect((await fixture.ended(north, given)).status).toBe("cancelled");
    for (const [index, what, expected] of [
      [2, "retry", [409, "invalid_state"]],
      [3, "cancel", [404, "item_not_found"]],
    ] as const) {
      const { status, body } = await order(id, index, what);
      expect([status, body.code]).toEqual([...expected]);
    }
    expect((await order(id, 0, "cancel", "NONE")).status).toBe(422);
    await decide(await asking(id, 0, 2), "yes");
    await decide(await asking(id, 2), "yes");
    const { blackboard } = await fixture.ended(north, id);
    expect(blackboard.EACH).toMatchObject({ status: "success", succeeded: 2, failed: [], total: 3 });
    expect(blackboard.EACH.results[1]).toBeNull();
  });

  test("one failure too many cancels the others, and an erased run leaves no row", async () => {
    const id = await startOf("strict", [{}, {}, {}, {}]);
    const other = await asking(id, 1);
    await decide(await asking(id, 0), "no");
    const { status, error_code, blackboard } = await fixture.ended(north, id);
    expect([status, error_code]).toEqual(["failed", "too_many_failed"]);
    expect(blackboard.EACH).toMatchObject({ failed: [{ index: 0 }], succeeded: 0, total: 4 });
    expect((await fixture.ended(north, other)).status).toBe("cancelled");
    await until(async () => (await itemsOf(id, "&status=running")).count === 0, { what: "the items to be given up" });
    expect((await itemsOf(id)).items.map((one: LooseJson) => one.status)).toEqual([
      "failed",
      "cancelled",
      "cancelled",
      "cancelled",
    ]);
    expect((await fixture.call(north, "DELETE", run(id))).status).toBe(200);
    const rows = await fixture.stores.sql`
      select run_id from workflow_items where run_id = ${id}
      union all select run_id from workflow_maps where run_id = ${id}
      union all select run_id from workflow_batches where run_id = ${id}`;
    expect([...rows]).toEqual([]);
  });
});
