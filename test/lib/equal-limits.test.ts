import { expect, jest, test } from "bun:test";
import { EqualLimits, type Limited } from "../../src/lib/equal-limits.ts";
import { until } from "../harness/until.ts";

class Wait implements Limited {
  dueAt = 0;
  isOver = false;
  constructor(readonly name: number) {}
}

function limitsOf(ms: number): { readonly limits: EqualLimits<Wait>; readonly late: number[] } {
  const late: number[] = [];
  const limits = new EqualLimits<Wait>(ms, (wait) => {
    wait.isOver = true;
    late.push(wait.name);
  });
  return { limits, late };
}

test("waits that are not over in time are told of, in their order; others are not", async () => {
  const { limits, late } = limitsOf(30);
  const waits = Array.from({ length: 10 }, (_, name) => new Wait(name));
  for (const wait of waits) limits.add(wait);
  for (const wait of waits) wait.isOver = wait.name % 2 === 0;
  await until(() => late.length === 5, { what: "those left to be late" });
  expect(late).toEqual([1, 3, 5, 7, 9]);
  limits.add(new Wait(10));
  await until(() => late.length === 6, { what: "one that came after the timer was gone" });
});

test("no wait is late before its own time, however old the oldest is", async () => {
  const { limits, late } = limitsOf(200);
  const begun = performance.now();
  limits.add(new Wait(1));
  await Bun.sleep(120);
  const second = new Wait(2);
  limits.add(second);
  await until(() => late.includes(1), { what: "the first to be late" });
  expect(performance.now() - begun).toBeGreaterThanOrEqual(199);
  await until(() => late.includes(2), { what: "the second to be late" });
  expect(performance.now()).toBeGreaterThanOrEqual(second.dueAt);
});

test("waits that are over are not kept, also behind one that is not", () => {
  jest.useFakeTimers();
  try {
    const { limits } = limitsOf(60_000);
    limits.add(new Wait(0));
    for (let name = 1; name <= 10_000; name++) {
      const wait = new Wait(name);
      limits.add(wait);
      wait.isOver = true;
    }
    expect(limits.kept).toBeLessThanOrEqual(256);
  } finally {
    jest.useRealTimers();
  }
});
