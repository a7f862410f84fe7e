/** How many messages the lane takes at once. */
import { expect, test } from "bun:test";
import { BatchSize } from "../../../../src/runtime/lane/intake/batch-size.ts";

test("batches shrink while their states are large, and grow again", () => {
  const size = new BatchSize(512);
  const after = (states: number, times: number) => {
    for (let count = 0; count < times; count++) size.note(states);
    return size.current;
  };
  expect(size.current).toBeLessThan(32);
  expect(after(1000, 10)).toBe(512);
  expect(after(100 * 1024 * 1024, 1)).toBe(256);
  expect(after(100 * 1024 * 1024, 20)).toBe(1);
  expect(after(1000, 20)).toBe(512);
});
