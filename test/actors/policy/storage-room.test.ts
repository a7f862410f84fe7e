import { expect, test } from "bun:test";
import { leastRoom, roomIn, type SharedBound, type WrittenVolume } from "../../../actors/policy/storage-room.ts";

const volume = (change: Partial<WrittenVolume> = {}): WrittenVolume => ({
  id: "a",
  limit: 100,
  quota: "size_limit_bytes",
  before: 10,
  taken: 10,
  ...change,
});
const shared = (change: Partial<SharedBound> = {}): SharedBound => ({
  quota: "user_bytes",
  limit: 1_000,
  used: 10,
  counted: new Map([["a", 10]]),
  ...change,
});

test("the lowest of the bounds wins, and says which it is", () => {
  const cases: [WrittenVolume, SharedBound[], unknown][] = [
    [volume(), [], { bytes: 90, quota: "size_limit_bytes", limit: 100, volumeId: "a" }],
    [volume({ taken: 101 }), [], { bytes: -1, quota: "size_limit_bytes" }],
    [volume(), [shared({ used: 960 })], { bytes: 40, quota: "user_bytes", limit: 1_000, volumeId: null }],
    // What the records say of it is older than what was measured.
    [volume({ taken: 60 }), [shared({ used: 960 })], { bytes: -10, quota: "user_bytes" }],
    [
      volume(),
      [shared(), shared({ quota: "max_storage_gb", limit: 50, used: 30 })],
      { bytes: 20, quota: "max_storage_gb" },
    ],
    // What does not count in a bound takes nothing of it.
    [volume({ taken: 60 }), [shared({ limit: 20, counted: new Map() })], { bytes: 10, quota: "user_bytes" }],
  ];
  for (const [written, bounds, room] of cases) expect(leastRoom([written], bounds)).toMatchObject(room as object);
  expect(leastRoom([], [])).toBeNull();
});

test("what lay there before is no fault; where a bound was passed nothing may be added", () => {
  expect(leastRoom([volume({ before: 200, taken: 200 })], [])?.bytes).toBe(0);
  expect(leastRoom([volume({ before: 200, taken: 201 })], [])?.bytes).toBe(-1);
  const over = shared({ limit: 5, used: 500 });
  expect(leastRoom([volume()], [over])?.bytes).toBe(0);
  expect(leastRoom([volume({ taken: 11 })], [over])?.bytes).toBe(-1);
});

test("room in one volume counts what is written into the owner's others", () => {
  const [a, b] = [volume({ limit: 500 }), volume({ id: "b", before: 0, taken: 900, limit: 2_000 })];
  const bound = shared({
    used: 10,
    counted: new Map([
      ["a", 10],
      ["b", 0],
    ]),
  });
  expect(roomIn("a", [a, b], [bound])).toBe(90);
  expect(roomIn("a", [a, b], [shared({ counted: new Map([["b", 0]]) })])).toBe(490);
  expect(roomIn("b", [a, b], [])).toBe(1_100);
});
