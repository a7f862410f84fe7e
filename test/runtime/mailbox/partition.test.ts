/** Which partition an actor lies in, and how an id is made for one. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { idWhere, partitionOf } from "../../../src/runtime/mailbox/partition.ts";

test("where actors lie never changes: stored ones depend on it", () => {
  expect(partitionOf("execution", "0198c1de-0000-7000-8000-000000000001", 64)).toBe(28);
  expect(partitionOf("approval", "0198c1de-0000-7000-8000-00000000000a", 64)).toBe(47);
  const run = "0198c1de-0000-7000-8000-0000000000ff";
  expect([64, 100, 256].map((partitions) => partitionOf("workflow_run", run, partitions))).toEqual([16, 72, 208]);
});

test("an id is found for any partition, and keeps all but its last three digits", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 256 }), fc.nat(), fc.string(), (partitions, place, kind) => {
      const id = Bun.randomUUIDv7();
      const partition = place % partitions;
      const asked: number[] = [];
      const fits = (one: number) => asked.push(one) > 0 && one === partition;
      const found = idWhere(kind, id, partitions, fits) ?? "";
      expect(partitionOf(kind, found, partitions)).toBe(partition);
      // Counted up from the id's own digits: the first that fits.
      expect(asked[0]).toBe(partitionOf(kind, id, partitions));
      const steps = (Number.parseInt(found.slice(-3), 16) - Number.parseInt(id.slice(-3), 16) + 4096) % 4096;
      expect(asked).toHaveLength(steps + 1);
      expect(found.slice(0, -3)).toBe(id.slice(0, -3));
      expect(found).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    }),
  );
});

test("what ends in no hexadecimal digits is left alone", () => {
  expect(idWhere("x", "not-a-uuid", 8, () => true)).toBeNull();
});
