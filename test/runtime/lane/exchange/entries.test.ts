/** Entries of a mailbox and numbers of a source, each against a plain map of the same. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { Ascending } from "../../../../src/runtime/lane/exchange/ascending.ts";
import { Entries } from "../../../../src/runtime/lane/exchange/entries.ts";

/** Whether each is taken, in their order. */
class PlainEntries {
  private readonly entries = new Map<string, boolean>();
  get size(): number {
    return this.entries.size;
  }
  add(id: string): void {
    if (!this.entries.has(id)) this.entries.set(id, false);
  }
  take(id: string): void {
    this.entries.set(id, true);
  }
  untake(ids: readonly string[]): void {
    for (const id of ids) if (this.entries.has(id)) this.entries.set(id, false);
  }
  get position(): string | undefined {
    let position: string | undefined;
    for (const [id, isTaken] of this.entries) {
      if (!isTaken) break;
      position = id;
    }
    return position;
  }
  settle(): void {
    for (const [id, isTaken] of this.entries) {
      if (!isTaken) break;
      this.entries.delete(id);
    }
  }
  isAhead(id: string): boolean {
    let isFirst = true;
    for (const [one, isTaken] of this.entries) {
      isFirst &&= isTaken;
      if (one === id) return isTaken && !isFirst;
    }
    return false;
  }
}

// Ids of differing lengths, of one millisecond and of several, in and out of order.
const idOf = (number: number) => `${99 + Math.floor(number / 13)}-${number % 13}`;
const number = fc.oneof({ weight: 5, arbitrary: fc.constant(-1) }, fc.integer({ min: 0, max: 60 }));
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ does: fc.constant("add" as const), number }) },
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant("take" as const),
      // The place of an entry among those that wait: mostly the first.
      number: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 30 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom("settle" as const, "untake" as const), number }) },
);

test("entries are taken, committed and taken back as a plain map says", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const plain = new PlainEntries();
      const entries = new Entries();
      let last = 0;
      const added = new Set<string>();
      let batch: string[] = [];
      for (const { does, number } of steps) {
        if (does === "add") {
          const id = idOf(number < 0 ? ++last : number);
          // One that is committed does not come to these entries again.
          if (added.has(id) && plain.size === 0) continue;
          added.add(id);
          for (const one of [plain, entries]) one.add(id);
        } else if (does === "take") {
          const id = [...added][number] ?? idOf(number);
          if (!added.has(id)) added.add(id);
          batch.push(id);
          for (const one of [plain, entries]) one.take(id);
        } else if (does === "untake") {
          for (const one of [plain, entries]) one.untake(batch);
          batch = [];
        } else {
          for (const one of [plain, entries]) one.settle();
          batch = [];
        }
        expect(entries.position).toBe(plain.position);
        expect(entries.size).toBe(plain.size);
        for (const id of added) expect(entries.isAhead(id)).toBe(plain.isAhead(id));
      }
    }),
    { numRuns: 500 },
  );
});

test("many entries in order, and many behind one that waits", () => {
  const entries = new Entries();
  for (let round = 0; round < 50; round++) {
    for (let at = 0; at < 100; at++) entries.add(idOf(round * 100 + at));
    for (let at = 0; at < 100; at++) entries.take(idOf(round * 100 + at));
    expect(entries.position).toBe(idOf(round * 100 + 99));
    entries.settle();
    expect(entries.size).toBe(0);
  }
  for (let at = 5000; at < 25_000; at++) entries.add(idOf(at));
  for (let at = 5001; at < 25_000; at++) entries.take(idOf(at));
  expect(entries.position).toBeUndefined();
  entries.settle();
  expect(entries.isOvertaking).toBe(true);
  entries.take(idOf(5000));
  expect(entries.position).toBe(idOf(24_999));
  entries.settle();
  expect([entries.size, entries.isOvertaking]).toEqual([0, false]);
});

test("ascending numbers are found, added and removed as a sorted map says", () => {
  const change = fc.record({ adds: fc.boolean(), number: fc.integer({ min: 1, max: 40 }), isNext: fc.boolean() });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const plain = new Map<number, number>();
      const ascending = new Ascending();
      let last = 0;
      for (const { adds, number, isNext } of changes) {
        const sorted = [...plain.keys()].sort((left, right) => left - right);
        if (adds) {
          const one = isNext ? ++last + 40 : number;
          expect(ascending.add(one, one * 2)).toBe(!plain.has(one));
          if (!plain.has(one)) plain.set(one, one * 2);
        } else {
          const one = isNext ? (sorted[0] ?? 0) : number;
          expect(ascending.remove(one)).toBe(plain.get(one) as number);
          plain.delete(one);
        }
        const left = [...plain.keys()].sort((first, second) => first - second);
        expect(ascending.size).toBe(left.length);
        expect(ascending.first).toBe(left[0]);
        for (const one of [0, 1, number, 20, last + 40, 1000]) {
          expect(ascending.get(one)).toBe(plain.get(one));
          expect(ascending.below(one)).toBe(left.filter((other) => other < one).at(-1) ?? 0);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test("thousands of numbers that come at the end and go at the front", () => {
  const ascending = new Ascending();
  for (let one = 1; one <= 10_000; one++) ascending.add(one, one);
  for (let one = 1; one <= 9_990; one++) {
    expect(ascending.first).toBe(one);
    expect(ascending.remove(one)).toBe(one);
  }
  expect([ascending.size, ascending.below(9_991), ascending.below(10_001), ascending.get(5)]).toEqual([
    10,
    0,
    10_000,
    undefined,
  ]);
});
