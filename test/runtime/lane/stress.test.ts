/** Two nodes under stress: their stores fail them in many ways, and each message is taken once, in order, and nothing is left behind. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { Stress } from "./stress.ts";

setDefaultTimeout(300_000);

/**
 * What is sent and disturbed follows from the seed, its timing does not: one that failed is run again with
 * `STRESS_SEEDS=<first>-<last>`, perhaps more than once.
 */
const { SVC_LONG_TESTS, STRESS_SEEDS = SVC_LONG_TESTS === "1" ? "1-40" : "1-2" } = process.env;
const [first = 1, last = first] = STRESS_SEEDS.split("-").map(Number);
const seeds = Array.from({ length: last - first + 1 }, (_, index) => first + index);
const messages = SVC_LONG_TESTS === "1" ? 2000 : 300;

let stores: TestStores;
let stress: Stress;
beforeEach(async () => {
  stores = await freshStores();
});
afterEach(async () => {
  await stress.end();
  await stores.dispose();
});

test.each(seeds)("each message is taken once, in order, and nothing stays behind (seed %d)", async (seed) => {
  stress = new Stress(stores, { seed, messages });
  await stress.begin();
  await stress.run();
  const isOver = async () => (await stress.faults()).length === 0;
  await until(isOver, { timeoutMs: 90_000, everyMs: 100, what: "everything to be taken" }).catch(() => {});
  const faults = await stress.faults();
  if (faults.length > 0) console.error(Bun.inspect(await stress.describe(), { depth: 6 }));
  expect(faults.slice(0, 20)).toEqual([]);
});
