/** How much is read of mailboxes at once. */
import { expect, test } from "bun:test";
import { ReadSize } from "../../../src/runtime/mailbox/read-size.ts";

const entries = (count: number, size: number) => Array.from({ length: count }, () => size);

test("reads begin small, grow while entries are light, and shrink with heavy ones", () => {
  const size = new ReadSize(256);
  expect(size.of(64)).toBeLessThan(16);
  for (let reads = 0; reads < 8; reads++) size.note(entries(100, 500));
  expect(size.of(64)).toBe(256);
  size.note(entries(20, 1024 * 1024));
  // One megabyte each: eight together, of all streams.
  expect([size.of(1), size.of(4), size.of(64)]).toEqual([8, 2, 1]);
  for (let reads = 0; reads < 100; reads++) size.note(entries(100, 500));
  expect(size.of(64)).toBe(256);
  size.reset();
  expect(size.of(64)).toBeLessThan(16);
});
