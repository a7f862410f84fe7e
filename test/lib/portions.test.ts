/** Work on many rows goes on until there are none. */
import { expect, test } from "bun:test";
import { inPortions } from "../../src/lib/portions.ts";

const rows = Array.from({ length: 2_500 }, (_, index) => index + 1);
const find = async (after: number | null, limit: number) => rows.filter((row) => row > (after ?? 0)).slice(0, limit);

test("one round does all rows that are this node's, so many at once", async () => {
  const done: number[] = [];
  let under = 0;
  let most = 0;
  const work = async (row: number) => {
    most = Math.max(most, ++under);
    await Promise.resolve();
    under--;
    done.push(row);
  };
  const prepared: number[] = [];
  const prepare = async (portion: readonly number[]) =>
    void prepared.push(...portion.filter((row) => !done.includes(row)));
  expect(await inPortions({ find, isMine: (row) => row % 2 === 0, work, prepare, atOnce: 64 }, () => false)).toBe(
    1_250,
  );
  expect(prepared).toHaveLength(1_250);
  expect(done.toSorted((a, b) => a - b)).toEqual(rows.filter((row) => row % 2 === 0));
  expect(most).toBe(64);
});

test("a round that is to stop ends with the portion under way", async () => {
  let count = 0;
  const work = async () => void count++;
  expect(await inPortions({ find, isMine: () => true, work, atOnce: 10 }, () => count >= 30)).toBe(30);
});

test("where a row fails the portion beside it is waited for, and no other is begun", async () => {
  const begun: number[] = [];
  const done: number[] = [];
  const beside = Promise.withResolvers<void>();
  const work = async (row: number) => {
    begun.push(row);
    if (row === 1) throw new Error("row 1");
    if (row > 10) await beside.promise;
    done.push(row);
  };
  const round = inPortions({ find, isMine: () => true, work, atOnce: 10, sideBySide: 2 }, () => false);
  const outcome = round.catch((error: unknown) => String(error));
  expect(await Promise.race([outcome, Bun.sleep(20).then(() => "goes on")])).toBe("goes on");
  beside.resolve();
  expect(await outcome).toBe("Error: row 1");
  expect(begun).toHaveLength(20);
  expect(done).toHaveLength(19);
});
