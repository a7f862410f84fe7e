/** Which changes of records are told, and in which order (docs/reference/events-stream.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { changeTypes, type RecordChange, readRecord, recordOf } from "../../../actors/change/change.ts";
import { Outgoing } from "../../../actors/change/outgoing.ts";
import { Unread } from "../../../actors/change/unread.ts";

const change = (id: string, status: string, more: Partial<RecordChange> = {}): RecordChange => ({
  type: "execution",
  id,
  status,
  at: 0,
  rev: null,
  telling: "always",
  ...more,
});
const numbered = (number: number, record: string) => ({ number, record, text: `${number}` });
const roomy = { perTenant: 10, total: 100 };

test("a record's name says which it is, and names of later versions say nothing", () => {
  for (const type of changeTypes) expect(readRecord(recordOf({ type, id: "a b" }))).toEqual({ type, id: "a b" });
  expect(readRecord("unheard 1")).toBeNull();
  expect(readRecord("")).toBeNull();
});

test("a thousand changes of a record in a second are told at most five times", () => {
  const outgoing = new Outgoing(roomy);
  const told: string[] = [];
  const restMs = 250;
  let earliest = 0;
  // As Redis does: a change is told where none was within the rest.
  const flush = (now: number) => {
    for (const one of outgoing.due("t", now, 10)) {
      if (now < earliest) outgoing.early("t", one, earliest);
      else {
        told.push(one.status);
        earliest = now + restMs;
        outgoing.told("t", one, earliest);
      }
    }
  };
  for (let now = 0; now < 1000; now++) {
    outgoing.put("t", change("a", `${now}`, { rev: now + 1 }));
    if (now % 10 === 0) flush(now);
  }
  for (let next = outgoing.next(); next !== null; next = outgoing.next()) flush(next);
  expect(told.length).toBeLessThanOrEqual(5);
  expect(told.at(-1)).toBe("999");
  expect(outgoing.size).toBe(0);
});

test("of changes that wait the newest wins, by revision where there is one", () => {
  const outgoing = new Outgoing(roomy);
  outgoing.put("t", change("a", "second", { rev: 2 }));
  outgoing.put("t", change("a", "first", { rev: 1 }));
  outgoing.put("t", change("b", "early"));
  outgoing.put("t", change("b", "late"));
  outgoing.put("t", change("b", "begun", { telling: "first" }));
  expect(outgoing.due("t", 0, 10).map(({ status }) => status)).toEqual(["second", "late"]);
});

test("what comes while a change is on its way is not lost with it", () => {
  const outgoing = new Outgoing(roomy);
  const first = change("a", "first");
  outgoing.put("t", first);
  outgoing.put("t", change("a", "second"));
  outgoing.told("t", first, 250);
  expect(outgoing.due("t", 249, 10)).toEqual([]);
  expect(outgoing.due("t", 250, 10).map(({ status }) => status)).toEqual(["second"]);
});

test("where there is no room a loss is remembered, of one tenant and of all", () => {
  const outgoing = new Outgoing({ perTenant: 2, total: 3 });
  for (const id of ["a", "b", "c"]) outgoing.put("t", change(id, "x"));
  expect([outgoing.size, outgoing.hasLost("t"), outgoing.hasLost("u")]).toEqual([2, true, false]);
  for (const id of ["a", "b"]) outgoing.put("u", change(id, "x"));
  expect([outgoing.size, outgoing.hasLost("u")]).toEqual([3, true]);
  outgoing.put("t", change("a", "newer"));
  expect(outgoing.due("t", 0, 1).map(({ status }) => status)).toEqual(["newer"]);
  expect(outgoing.next()).toBe(0);
  outgoing.forget("t");
  expect([outgoing.size, outgoing.hasLost("t"), outgoing.tenants]).toEqual([1, false, ["u"]]);
});

test("a follower gets the newest change of each record in order, or a gap", () => {
  const put = fc.record({ record: fc.constantFrom("a", "b", "c", "d", "e"), read: fc.boolean(), lost: fc.boolean() });
  fc.assert(
    fc.property(fc.array(put, { maxLength: 60 }), fc.integer({ min: 1, max: 6 }), (steps, most) => {
      const unread = new Unread(most);
      const owed = new Map<string, number>();
      const seen: number[] = [];
      const read = () => {
        const taken = unread.take();
        const gap = taken.find((one) => "gap" in one)?.number ?? 0;
        for (const one of taken) {
          seen.push(one.number);
          if ("record" in one && owed.get(one.record) === one.number) owed.delete(one.record);
        }
        expect([...owed.values()].filter((number) => number > gap)).toEqual([]);
        owed.clear();
        expect(unread.isEmpty).toBe(true);
        expect(taken.length).toBeLessThanOrEqual(most + 1);
      };
      steps.forEach(({ record, read: isRead, lost }, index) => {
        unread.put(numbered(index + 1, record));
        owed.set(record, index + 1);
        if (lost) unread.miss({ number: index + 1, gap: "lost" });
        if (isRead) read();
      });
      read();
      expect(seen).toEqual([...seen].sort((one, other) => one - other));
    }),
  );
});
