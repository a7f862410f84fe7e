import { expect, test } from "bun:test";
import fc from "fast-check";
import { fireFor, latestFire, longestDelay, nextFire } from "../../../actors/agent/firing.ts";

const at = (text: string) => Date.parse(text);
const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());
const cron = (expression: string, timezone = "UTC") => ({ type: "cron", cron: expression, timezone }) as const;

test.each([
  // Ordinary days.
  ["0 9 * * *", "UTC", "2031-05-02T08:59:59.999Z", "2031-05-02T09:00:00.000Z"],
  ["0 9 * * *", "UTC", "2031-05-02T09:00:00.000Z", "2031-05-03T09:00:00.000Z"],
  ["*/15 * * * *", "UTC", "2031-05-02T09:01:00Z", "2031-05-02T09:15:00.000Z"],
  ["30 6 1 * *", "Asia/Kolkata", "2031-05-02T00:00:00Z", "2031-06-01T01:00:00.000Z"],
  // The same hour on the wall, before and after the clocks change.
  ["0 9 * * *", "Europe/Berlin", "2031-03-29T12:00:00Z", "2031-03-30T07:00:00.000Z"],
  ["0 9 * * *", "Europe/Berlin", "2031-03-28T12:00:00Z", "2031-03-29T08:00:00.000Z"],
  ["0 9 * * *", "America/New_York", "2031-11-01T20:00:00Z", "2031-11-02T14:00:00.000Z"],
  ["0 9 * * *", "America/New_York", "2031-10-31T20:00:00Z", "2031-11-01T13:00:00.000Z"],
  // Every hour goes on through both changes.
  ["0 * * * *", "Europe/Berlin", "2031-03-30T00:30:00Z", "2031-03-30T01:00:00.000Z"],
  ["0 * * * *", "Europe/Berlin", "2031-03-30T01:00:00Z", "2031-03-30T02:00:00.000Z"],
  ["0 * * * *", "Europe/Berlin", "2031-10-26T00:00:00Z", "2031-10-26T01:00:00.000Z"],
  ["0 * * * *", "Europe/Berlin", "2031-10-26T01:00:00Z", "2031-10-26T02:00:00.000Z"],
])("%s in %s after %s", (expression, timezone, now, expected) => {
  expect(iso(nextFire(cron(expression, timezone), 0, at(now)))).toBe(expected);
});

test("an hour that the clocks skip is made up for once, an hour they repeat fires once", () => {
  const count = (expression: string, from: string, to: string) => {
    const times: (string | null)[] = [];
    for (let now = at(from); ; ) {
      const next = nextFire(cron(expression, "Europe/Berlin"), 0, now);
      if (next === null || next >= at(to)) return times;
      times.push(iso(next));
      now = next;
    }
  };
  expect(count("30 2 * * *", "2031-03-29T23:00:00Z", "2031-03-30T22:00:00Z")).toHaveLength(1);
  expect(count("30 2 * * *", "2031-10-25T22:00:00Z", "2031-10-26T23:00:00Z")).toHaveLength(1);
});

test("an interval counts from the deployment", () => {
  const schedule = { type: "interval", every_ms: 60_000 } as const;
  expect(latestFire(schedule, 500, 60_499)).toBeNull();
  expect(latestFire(schedule, 500, 60_500)).toBe(60_500);
  expect(nextFire(schedule, 500, 500)).toBe(60_500);
  expect(nextFire(schedule, 500, 60_500)).toBe(120_500);
  expect(nextFire(schedule, 500, 0)).toBe(60_500);
});

test("the last moment is at or before now, the next after it, none between them", () => {
  const schedules = [
    cron("*/7 * * * *", "America/New_York"),
    cron("15 3 * * 1-5", "Asia/Tokyo"),
    { type: "interval", every_ms: 61_000 } as const,
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...schedules),
      fc.integer({ min: at("2030-01-01"), max: at("2032-01-01") }),
      (schedule, now) => {
        const latest = latestFire(schedule, 7, now) as number;
        const next = nextFire(schedule, 7, now) as number;
        expect(latest).toBeLessThanOrEqual(now);
        expect(next).toBeGreaterThan(now);
        expect(nextFire(schedule, 7, latest)).toBe(next);
      },
    ),
    { numRuns: 200 },
  );
});

const minute = 60_000;
const everyMinute = { type: "interval", every_ms: minute } as const;
test.each([
  ["on time", minute, minute, minute],
  ["a little late", minute, minute + longestDelay, minute],
  ["too late, and a later one was missed", minute, minute + longestDelay + 30_000, minute + longestDelay],
])("%s", (_, due, now, expected) => {
  expect(fireFor(everyMinute, { anchor: 0, due, since: 0, now })).toBe(expected);
});

test("a moment too long past, or before the schedule was in force, starts nothing", () => {
  const hourly = { type: "interval", every_ms: 60 * minute } as const;
  const due = 60 * minute;
  expect(fireFor(hourly, { anchor: 0, due, since: 0, now: due + longestDelay + 1 })).toBeNull();
  expect(fireFor(hourly, { anchor: 0, due, since: due, now: due })).toBeNull();
});
