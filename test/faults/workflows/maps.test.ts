/** The node dies in the middle of two Maps: they go on, and no item is done twice. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import { until } from "../../harness/until.ts";
import { end, expectOnce, kept, marksOf } from "./fixture.ts";

setDefaultTimeout(120_000);

let at: NodeFixture;
let many: string;
let marks: string;

beforeAll(async () => {
  at = await NodeFixture.open({ SVC_RATE_LIMITS: "false" });
  const each = (state: object, more: object) => ({
    EACH: { kind: "Map", items: "{{input.list}}", state, ...more, transitions: [{ target: "END" }] },
    END: end,
  });
  await at.register("many", each({ kind: "System", command: "noop" }, { concurrency: 100 }));
  const mark = { kind: "System", command: 'echo "$AT" >> marks; sleep 0.4', env: { AT: "{{index}}" } };
  await at.register("marks", each(mark, { concurrency: 4, batch: 5 }), kept);
  marks = await at.start("marks", { input: { list: numbers(16) } });
  await until(async () => (await marksOf(at, marks)).length >= 2, { what: "the first lines" });
  many = await at.start("many", { input: { list: numbers(10_000) } });
  await until(async () => (await rowsOf(many)).length >= 1_000, { what: "the first items", everyMs: 5 });
  await at.node.kill();
  // Both were in the middle.
  expect((await rowsOf(many)).length).toBeLessThan(10_000);
  expect((await rowsOf(marks)).length).toBeLessThan(16);
  await at.node.restart();
}, 60_000);
afterAll(() => at.close());

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

async function rowsOf(id: string) {
  const rows = await at.stores.sql<{ item: number; status: string; attempts: number }[]>`
    select item, status, attempts from workflow_items where run_id = ${id} order by item`;
  return [...rows];
}

test("ten thousand items are done once each", async () => {
  const { status, blackboard } = await at.ended(many);
  expect([status, blackboard.EACH.succeeded, blackboard.EACH.failed]).toEqual(["completed", 10_000, []]);
  expect(blackboard.EACH.results.every((one: object | null) => one !== null)).toBe(true);
  const rows = numbers(10_000).map((item) => ({ item, status: "completed", attempts: 1 }));
  expect(await rowsOf(many)).toEqual(rows);
  await expectOnce(at, many);
});

test("commands of items leave one line each", async () => {
  const { status, blackboard } = await at.ended(marks);
  expect([status, blackboard.EACH.succeeded]).toEqual(["completed", 16]);
  expect((await marksOf(at, marks)).map(Number).sort((one, other) => one - other)).toEqual(numbers(16));
  expect((await rowsOf(marks)).every(({ attempts }) => attempts === 1)).toBe(true);
  await until(async () => [...(await at.stores.sql`select from workflow_batches`)].length === 0, {
    what: "the child records to be gone",
  });
});
