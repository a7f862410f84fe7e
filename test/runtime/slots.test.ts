/** How the slots of an activity are shared. */
import { expect, test } from "bun:test";
import { Slots } from "../../src/runtime/activities/slots.ts";

function taken(slots: Slots, tenant: string, most = 100): number {
  let count = 0;
  for (; count < most && slots.admits(tenant); count++) slots.take(tenant);
  return count;
}

test("a tenant alone has all slots", () => {
  const slots = new Slots(16, () => 0);
  slots.note("a");
  expect(taken(slots, "a")).toBe(16);
  expect(slots.isFull).toBe(true);
});

test("where others have been seen, one tenant leaves slots to the next newcomer", () => {
  let now = 0;
  const slots = new Slots(16, () => now);
  for (const tenant of ["b", "a"]) slots.note(tenant);
  expect(taken(slots, "a")).toBe(12);
  slots.note("b");
  expect(taken(slots, "b")).toBe(3);
  slots.note("c");
  expect(taken(slots, "c")).toBe(1);
  slots.giveBack("a");
  expect([slots.admits("a"), slots.admits("d")]).toEqual([false, true]);
  now = 60 * 60_000;
  slots.note("a");
  expect(slots.admits("a")).toBe(true);
});

test.each([1, 2])("%d slots serve any tenant", (most) => {
  const slots = new Slots(most, () => 0);
  for (const tenant of ["b", "a"]) slots.note(tenant);
  expect(taken(slots, "a")).toBe(most);
});
