/** Lessons become patterns, each exactly once (docs/reference/cortex.md). */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { lessonFact, lostLesson, passedLesson } from "../../../actors/cortex/lesson.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { lessonFacts } from "../../../src/features/cortex/facts.ts";
import { foldLessons } from "../../../src/features/cortex/fold.ts";
import { createCortexRecords } from "../../../src/features/cortex/records.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores?.dispose());
beforeEach(async () => {
  await stores.sql`truncate cortex_lessons, cortex_patterns, cortex_losses`;
});

let at = Date.UTC(2031, 3, 2);
const put = async (tenant: string, ...lessons: readonly Json[]) => {
  const facts = lessons.map((fact) => {
    at += 1_000;
    return { tenant, at, fact };
  });
  for (const { text, parameters } of lessonFacts(() => {}).write(facts)) {
    await stores.sql.unsafe(text, [...parameters] as string[]);
  }
};
const lost = (execution_id: string, message: string, is_last = false, error_type = "nonzero_exit") =>
  lostLesson({ execution_id, iteration_number: 1, error_type, message, is_last });
const passed = (execution_id: string, answer: string) => passedLesson({ execution_id, iteration_number: 2, answer });
const fold = async (maxPatterns = 5_000) => {
  while (await foldLessons({ sql: stores.sql, newId: () => Bun.randomUUIDv7(), maxPatterns }));
};
const patterns = async (tenant: string, filter = {}) =>
  (await createCortexRecords(stores.sql).patterns(tenant, filter, { limit: 500, offset: 0, after: null })).items;

test("iterations and executions are counted apart, and a success once for each", async () => {
  const [one, other, third] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  await put("acme", lost(one, "line 1"), lost(one, "line 2"), passed(one, "do:\n```sh\nls\n```"));
  await put("acme", lost(other, "line 3", true), lost(third, "line 4"));
  await fold();
  expect(await patterns("acme")).toMatchObject([
    {
      error_signature: "nonzero_exit: line <n>",
      error_message: "line 4",
      frequency: 4,
      total_count: 3,
      success_count: 1,
      success_rate: 1 / 3,
      solution: "do:\n```sh\nls\n```",
      solution_code: "ls",
    },
  ]);
  // An answer without words counts, and takes nothing away.
  await put("acme", passed(third, " "), passed(third, "again"), passed(other, "never lost, as far as is known"));
  await fold();
  expect(await patterns("acme")).toMatchObject([{ success_count: 2, total_count: 3, solution_code: "ls" }]);
  expect(await stores.sql`select * from cortex_losses`).toHaveLength(0);
});

test("two nodes that fold at once count each lesson once; tenants are apart", async () => {
  const one = crypto.randomUUID();
  const many = Array.from({ length: 450 }, (_, n) => lost(one, `line ${n}`));
  await put("acme", ...many, passed(one, "fixed"));
  await put("beta", lost(crypto.randomUUID(), "line 1", true));
  await Promise.all([fold(), fold(), fold()]);
  await fold();
  expect(await patterns("acme")).toMatchObject([{ frequency: 450, total_count: 1, success_count: 1 }]);
  expect(await patterns("beta")).toMatchObject([{ frequency: 1, solution: null, success_rate: 0 }]);
  expect(await patterns("gamma")).toEqual([]);
});

test("of too many patterns those go that were not met for the longest time", async () => {
  const words = ["alpha", "beta", "gamma", "delta"];
  await put("acme", ...words.map((word) => lost(crypto.randomUUID(), word, true)));
  await put("acme", lost(crypto.randomUUID(), "alpha", true), lost(crypto.randomUUID(), "omega", true));
  await fold(3);
  const kept = (await patterns("acme")).map(({ error_message }) => error_message);
  expect(kept.toSorted()).toEqual(["alpha", "delta", "omega"]);
});

test("a search takes % and _ as they are, in the error and in the solution", async () => {
  const one = crypto.randomUUID();
  await put("acme", lost(one, "Used 100% of it"), passed(one, "Set the_limit"), lost(one, "other words", true));
  await fold();
  const found = async (q: string) => (await patterns("acme", { q })).map(({ error_message }) => error_message);
  expect(await found("100%")).toEqual(["Used 100% of it"]);
  expect(await found("THE_LIMIT")).toEqual(["Used 100% of it"]);
  expect(await found("%")).toEqual(["Used 100% of it"]);
  expect(await found("x_y")).toEqual([]);
  expect(await found("\\")).toEqual([]);
  expect(await found("\0\ud800")).toEqual([]);
  expect((await patterns("acme", { error_type: "llm_error" })).length).toBe(0);
});

test("where nothing is to be recorded a turn writes nothing", () => {
  expect(lessonFacts(null).name).toBe(lessonFact.name);
  expect(lessonFacts(null).write([{ tenant: "acme", at, fact: lost(crypto.randomUUID(), "x") }])).toEqual([]);
});
