/** A node judges by PostgreSQL's time only while it hears of it. */
import { expect, test } from "bun:test";
import { DatabaseClock } from "../../../src/store/postgres/clock.ts";

test("the database's time is known from a measurement on, and for 90 s", () => {
  let steady = 1_000_000;
  const clock = new DatabaseClock(
    () => 5,
    () => steady,
  );
  expect(clock.isKnown).toBe(false);
  clock.heard(1_700_000_000_000, clock.asked());
  expect(clock.isKnown).toBe(true);
  steady += 90_000;
  expect(clock.isKnown).toBe(true);
  steady += 1;
  expect(clock.isKnown).toBe(false);
  expect(clock.now()).toBe(1_700_000_090_001);
});
