/** Work on many things, some at once. */
import { expect, test } from "bun:test";
import { sideBySide } from "../../src/lib/side-by-side.ts";

test("as many as may are under way at once, and all are done", async () => {
  const done: number[] = [];
  let running = 0;
  let most = 0;
  await sideBySide([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    done.push(item);
  });
  expect([most, done.sort()]).toEqual([3, [1, 2, 3, 4, 5, 6, 7]]);
});

test("what fails is thrown once those under way have ended; no more are begun", async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const work = sideBySide([1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    if (item === 1) throw new Error("one");
    await Bun.sleep(1);
    ended.push(item);
  });
  await expect(work).rejects.toThrow("one");
  expect([begun, ended]).toEqual([[1, 2], [2]]);
});
