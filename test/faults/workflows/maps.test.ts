/** The node dies in the middle of a Map: it goes on, and no item is done twice. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import { until } from "../../harness/until.ts";
import { dieAndReturn, end, expectOnce, kept, marksOf } from "./fixture.ts";

setDefaultTimeout(120_000);

let at: NodeFixture;
beforeAll(async () => {
  at = await NodeFixture.open({ SVC_RATE_LIMITS: "false" });
  const each = (state: object, more: object) => ({
    EACH: { kind: "Map", items: "{{input.list}}", state, ...more, transitions: [{ target: "END" }] },
    END: end,
  });
  await at.register("many", each({ kind: "System", command: "noop" }, { concurrency: 100 }));
  const mark = { kind: "System", command: 'echo "$AT" >> marks; sleep 0.2', env: { AT: "{{index}}" } };
  await at.register("marks", each(mark, { concurrency: 4, batch: 5 }), kept);
}, 60_000);
afterAll(() => at.close());

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

async function rowsOf(id: string) {
  const rows = await at.stores.sql<{ item: number; status: string; attempts: number }[]>`
    select item, status, attempts from workflow_items where run_id = ${id} order by item`;
  return [...rows];
}

test("ten thousand items, killed in the middle, are done once each", async () => {
  const list = numbers(10_000);
  const id = await at.start("many", { input: { list } });
  await until(async () => (await rowsOf(id)).length >= 1_000, { what: "the first items", everyMs: 5 });
  await dieAndReturn(at);
  const { status, blackboard } = await at.ended(id);
  expect([status, blackboard.EACH.succeeded, blackboard.EACH.failed]).toEqual(["completed", 10_000, []]);
  expect(blackboard.EACH.results.every((one: object | null) => one !== null)).toBe(true);
  expect(await rowsOf(id)).toEqual(list.map((item) => ({ item, status: "completed", attempts: 1 })));
  await expectOnce(at, id);
});

test("commands of items, killed again and again, leave one line each", async () => {
  const list = numbers(12);
  const id = await at.start("marks", { input: { list } });
  for (const lines of [3, 8]) {
    await until(async () => (await marksOf(at, id)).length >= lines, { what: `${lines} lines`, timeoutMs: 30_000 });
    await dieAndReturn(at);
  }
  const { status, blackboard } = await at.ended(id);
  expect([status, blackboard.EACH.succeeded]).toEqual(["completed", 12]);
  expect((await marksOf(at, id)).map(Number).sort((one, other) => one - other)).toEqual(list);
  expect((await rowsOf(id)).every(({ attempts }) => attempts === 1)).toBe(true);
  await until(async () => [...(await at.stores.sql`select from workflow_batches`)].length === 0, {
    what: "the child records to be gone",
  });
});
