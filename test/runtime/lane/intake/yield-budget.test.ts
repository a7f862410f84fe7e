/** Turns that take long let others have their time. */
import { expect, test } from "bun:test";
import { YieldBudget } from "../../../../src/runtime/lane/intake/yield-budget.ts";

function compute(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

test("it is due once the turns have taken long, and then what waits comes first", async () => {
  const budget = new YieldBudget();
  expect(budget.isDue).toBe(false);
  let served = 0;
  setTimeout(() => {
    served += 1;
  });
  compute(30);
  expect(budget.isDue).toBe(true);
  await budget.take();
  expect(budget.isDue).toBe(false);
  while (served === 0) {
    compute(30);
    await budget.take();
  }
  expect(served).toBe(1);
});
