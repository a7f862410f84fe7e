/** Many large bodies at once: each in its turn, and no more of them than the node can hold. */
import { describe, expect, test } from "bun:test";
import { ByteBudget } from "../../src/http/body-turns.ts";
import { FairTurns } from "../../src/lib/fair-turns.ts";

describe("turns", () => {
  const hold = (ms: number) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
  };

  test("between two bodies everything else gets its time", async () => {
    const turns = new FairTurns();
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const work = async () => {
      await turns.take("a");
      hold(15);
    };
    await Promise.all(Array.from({ length: 30 }, work));
    clearInterval(timer);
    // All of them together take 450 ms.
    expect(longest).toBeLessThan(225);
  });

  test("tenants go in turn", async () => {
    const turns = new FairTurns();
    const order: string[] = [];
    const work = async (owner: string) => {
      await turns.take(owner);
      order.push(owner);
    };
    await Promise.all([...Array.from({ length: 20 }, () => work("many")), work("one"), work("other")]);
    expect(order.indexOf("one")).toBeLessThan(4);
    expect(order.indexOf("other")).toBeLessThan(4);
    expect(order).toHaveLength(22);
  });
});

test("bytes are set aside for each tenant and for all, and given back", () => {
  const budget = new ByteBudget(100, 60, 5);
  const first = budget.hold("a", 60);
  expect(first).not.toBeNull();
  expect(budget.hold("a", 10)).toBeNull();
  expect(budget.hold("a", 5)).not.toBeNull();
  expect(budget.hold("b", 41)).toBeNull();
  expect(budget.hold("b", 40)).not.toBeNull();
  first?.();
  expect(budget.hold("a", 60)).not.toBeNull();
});
