/** The clock of all nodes is PostgreSQL's. */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { DatabaseClock } from "../../../src/store/postgres/clock.ts";
import { freshStores } from "../../harness/stores.ts";

const fiveMinutes = 300_000;

test("a machine whose time is five minutes off takes PostgreSQL's", async () => {
  const stores = await freshStores();
  for (const off of [fiveMinutes, -fiveMinutes]) {
    const clock = new DatabaseClock(() => Date.now() + off);
    expect(Math.abs(clock.now() - Date.now())).toBeGreaterThan(fiveMinutes - 5_000);
    const before = Date.now();
    await clock.measure(stores.sql);
    // Within the time that the measurement took.
    const took = Date.now() - before + 5;
    expect(Math.abs(clock.now() - Date.now())).toBeLessThanOrEqual(took);
  }
  await stores.dispose();
});

test("measurements never put the clock further off than each took", () => {
  const measurement = fc.record({ pause: fc.nat(1_000), there: fc.nat(500), back: fc.nat(500) });
  void fc.assert(
    fc.property(fc.array(measurement, { minLength: 1 }), fc.integer({ min: -1e6, max: 1e6 }), (all, off) => {
      let steady = 0;
      const truth = () => 1e12 + steady;
      const clock = new DatabaseClock(
        () => truth() + off,
        () => steady,
      );
      let narrowest = Number.POSITIVE_INFINITY;
      for (const { pause, there, back } of all) {
        steady += pause;
        const asked = clock.asked();
        steady += there;
        const time = truth();
        steady += back;
        clock.heard(time, asked);
        narrowest = Math.min(narrowest, there + back);
      }
      // A first answer ahead of time is waited for.
      steady += 5_000;
      expect(Math.abs(clock.now() - truth())).toBeLessThanOrEqual(narrowest + 1);
    }),
  );
});

test("a clock that was a little ahead stands still, one far ahead is set back", () => {
  let steady = 0;
  const clock = new DatabaseClock(
    () => 10_000,
    () => steady,
  );
  expect(clock.now()).toBe(10_000);
  clock.heard(9_000, steady);
  expect(clock.now()).toBe(10_000);
  steady = 1_500;
  expect(clock.now()).toBe(10_500);
  clock.heard(1_000, steady);
  expect(clock.now()).toBe(1_000);
});
