/** Turns that take long let others have their time. */
import { expect, test } from "bun:test";
import { YieldBudget } from "../../src/runtime/lane/yield-budget.ts";

function compute(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

test("it is due once the turns have taken long, and then what waits comes first", async () => {
  const breath = new YieldBudget();
  expect(breath.isDue).toBe(false);
  let served = 0;
  setTimeout(() => {
    served += 1;
  });
  compute(30);
  expect(breath.isDue).toBe(true);
  await breath.take();
  expect(breath.isDue).toBe(false);
  while (served === 0) {
    compute(30);
    await breath.take();
  }
  expect(served).toBe(1);
});
