/** How many daemons a node lets say hello, and when it has the others come back; docs/reference/edge.md. */
import { expect, test } from "bun:test";
import { admission } from "../../../../../src/features/edge/link/handshake/admission.ts";

const perSecond = 500;

function atDoor() {
  let now = 0;
  let seed = 1;
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  return { door: admission(perSecond, () => now, random), pass: (ms: number) => (now += ms) };
}

test("so many are let in at once, and so many more with each second", () => {
  const { door, pass } = atDoor();
  const letIn = (asking: number) => Array.from({ length: asking }, () => door.admits()).filter(Boolean).length;
  expect(letIn(2_000)).toBe(perSecond);
  pass(100);
  expect(letIn(2_000)).toBe(perSecond / 10);
  pass(60_000);
  expect(letIn(2_000)).toBe(perSecond);
});

test("one that is sent away alone comes back soon, none later than in 30 s", () => {
  const { door } = atDoor();
  expect(door.retryAfterMs()).toBeWithin(1_000, 1_100);
  const waits = Array.from({ length: 100_000 }, () => door.retryAfterMs());
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000);
  expect(Math.max(...waits)).toBe(30_000);
});

test("ten thousand that come in one second are all in within 25 s", () => {
  const { door, pass } = atDoor();
  let coming = Array.from({ length: 10_000 }, (_, index) => index / 10);
  let last = 0;
  for (let now = 0; coming.length > 0 && now < 120_000; now += 10) {
    const due = coming.filter((at) => at <= now);
    coming = coming.filter((at) => at > now);
    for (const _ of due) {
      if (door.admits()) last = now;
      else coming.push(now + door.retryAfterMs());
    }
    pass(10);
  }
  expect(coming).toHaveLength(0);
  expect(last).toBeWithin(18_000, 25_000);
});
