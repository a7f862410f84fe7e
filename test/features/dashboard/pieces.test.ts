/** A window counted in pieces: what lies behind and cannot have changed is not counted again, and nothing is missed. */
import { expect, test } from "bun:test";
import { createCounts } from "../../../src/features/dashboard/counts.ts";
import { inAll, inPieces, pieceMs } from "../../../src/features/dashboard/pieces.ts";
import type { CountPieces } from "../../../src/runtime/reads/spans.ts";

const day = 24 * 3_600_000;
const begin = 3_000_000 * pieceMs;

interface Thing {
  readonly at: number;
  status: string;
}

/** Sources over things in memory, and how many rows the settled one has read since it was last asked. */
function memory(things: Thing[]) {
  let read = 0;
  const counting =
    (isMeant: (one: Thing) => boolean, note: (rows: number) => void): CountPieces =>
    async (_, __, { from, to }, ms) => {
      const meant = things.filter((one) => isMeant(one) && from.getTime() <= one.at && one.at < to.getTime());
      note(meant.length);
      return meant.map(({ at, status }) => ({ piece: Math.floor(at / ms), status, count: 1 }));
    };
  const settled = counting(
    ({ status }) => status !== "running",
    (rows) => (read += rows),
  );
  const open = counting(
    ({ status }) => status === "running",
    () => {},
  );
  const sql = { begin: (_: string, work: (tx: never) => Promise<unknown>) => work(null as never) };
  const rows = () => {
    const before = read;
    read = 0;
    return before;
  };
  return { sources: { settled, open }, sql: sql as never, rows };
}

test("of a large window only the pieces that can have changed are counted again", async () => {
  let now = begin + day;
  const things: Thing[] = Array.from({ length: 28_800 }, (_, n) => ({ at: begin + n * 3_000, status: "completed" }));
  const waiting: Thing = { at: begin + 70 * pieceMs, status: "running" };
  things.push(waiting);
  const { sources, sql, rows } = memory(things);
  const counted = inPieces(sql, sources, () => now);
  const plain = () => {
    const inWindow = things.filter(({ at }) => at >= now - day);
    return inWindow.reduce((all, { status }) => all.set(status, (all.get(status) ?? 0) + 1), new Map());
  };
  const told = async () => new Map([...inAll(await counted("acme", now - day))].sort());
  expect(await told()).toEqual(plain());
  expect(rows()).toBe(28_800);
  now += 30_000;
  things.push({ at: now - 1, status: "failed" });
  expect(await told()).toEqual(new Map([...plain()].sort()));
  expect(rows()).toBeLessThan(900);
  // One that ends late has its piece counted again, and no other.
  waiting.status = "failed";
  expect(await told()).toEqual(new Map([...plain()].sort()));
  expect(rows()).toBeLessThan(1_100);
  // What was removed by hand is gone after ten minutes.
  things.splice(14_000, 500);
  now += 630_000;
  expect(await told()).toEqual(new Map([...plain()].sort()));
});

test("a small window is counted as it is", async () => {
  const now = begin + day;
  const things = [{ at: begin + 5, status: "completed" }];
  const { sources, sql } = memory(things);
  const counted = inPieces(sql, sources, () => now);
  expect(inAll(await counted(null, begin))).toEqual(new Map([["completed", 1]]));
  things.pop();
  expect(inAll(await counted(null, begin))).toEqual(new Map());
});

test("what was started is told by the quarter of an hour, by what it is now", async () => {
  const of = (statuses: Readonly<Record<string, number>>) => new Map(Object.entries(statuses));
  const none = async () => new Map();
  const quarter = 3;
  const first = Math.floor(begin / pieceMs / quarter) * quarter;
  const counted = createCounts(
    {
      executions: async () =>
        new Map([
          [first + quarter, of({ completed: 1 })],
          [first, of({ completed: 2, failed: 1 })],
          [first + 2, of({ failed: 4 })],
        ]),
      runs: async () => new Map([[first + quarter + 1, of({ running: 1 })]]),
      stimuli: none,
      incidents: async () => 0,
      violations: async () => 0,
      activeSwarms: async () => 0,
    },
    () => begin + day,
  );
  const { executions, runs, byStatus, series } = await counted("acme");
  expect({ executions, runs, byStatus }).toMatchObject({
    executions: 8,
    runs: 1,
    byStatus: { completed: 3, failed: 5, pending: 0 },
  });
  expect(series).toEqual({
    bucket_seconds: 900,
    buckets: [
      { at: new Date(first * pieceMs).toISOString(), executions: { completed: 2, failed: 5 }, runs: {} },
      { at: new Date((first + quarter) * pieceMs).toISOString(), executions: { completed: 1 }, runs: { running: 1 } },
    ],
  });
});
