/** When a schedule is due (docs/reference/workflow-schedules.md). */
import { describe, expect, test } from "bun:test";
import { latestTimes, nextTime, nextTimes, startOf, type Timing } from "../../../../actors/workflow/schedule/times.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const step = 5 * minute;
const at = (text: string) => Date.parse(text);
const cron = (cron: string, timezone = "UTC"): Timing => ({ when: { cron }, timezone, anchor: 0 });
const shown = (times: readonly number[]) => times.map((time) => new Date(time).toISOString().replace(":00.000Z", "Z"));

describe("clock changes", () => {
  test.each([
    [
      "skipped: the end of the gap",
      "30 2 * * *",
      "Europe/Berlin",
      "2031-03-29T22:00Z",
      ["2031-03-30T01:00Z", "2031-03-31T00:30Z"],
    ],
    [
      "twice: the first time",
      "30 2 * * *",
      "Europe/Berlin",
      "2031-10-25T22:00Z",
      ["2031-10-26T00:30Z", "2031-10-27T01:30Z"],
    ],
    [
      "skipped, in America",
      "15 2 * * *",
      "America/New_York",
      "2031-03-09T00:00Z",
      ["2031-03-09T07:00Z", "2031-03-10T06:15Z"],
    ],
    [
      "twice, in America",
      "30 1 * * *",
      "America/New_York",
      "2031-11-02T00:00Z",
      ["2031-11-02T05:30Z", "2031-11-03T06:30Z"],
    ],
    [
      "a gap of half an hour",
      "15 2 * * *",
      "Australia/Lord_Howe",
      "2031-10-04T12:00Z",
      ["2031-10-04T15:30Z", "2031-10-05T15:15Z"],
    ],
    [
      "a whole day that is skipped",
      "0 12 * * *",
      "Pacific/Apia",
      "2011-12-29T00:00Z",
      ["2011-12-29T22:00Z", "2011-12-30T10:00Z", "2011-12-30T22:00Z"],
    ],
    [
      "a gap from a minute past midnight on",
      "30 0 * * *",
      "America/St_Johns",
      "2005-04-03T00:00Z",
      ["2005-04-03T03:31Z"],
    ],
    [
      "all of a gap is one time",
      "*/20 2 * * *",
      "Europe/Berlin",
      "2031-03-29T22:00Z",
      ["2031-03-30T01:00Z", "2031-03-31T00:00Z"],
    ],
    [
      "hours go on behind the gap",
      "0 * * * *",
      "Europe/Berlin",
      "2031-03-29T23:30Z",
      ["2031-03-30T00:00Z", "2031-03-30T01:00Z", "2031-03-30T02:00Z"],
    ],
    [
      "an hour is not repeated",
      "0 * * * *",
      "Europe/Berlin",
      "2031-10-25T23:30Z",
      ["2031-10-26T00:00Z", "2031-10-26T02:00Z", "2031-10-26T03:00Z"],
    ],
  ])("%s", (_, expression, zone, from, expected) => {
    expect(shown(nextTimes(cron(expression, zone), at(from), expected.length))).toEqual(expected);
  });

  const zones = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "Pacific/Chatham",
    "America/St_Johns",
    "Asia/Tehran",
  ];
  const patterns: readonly [string, (minutes: number) => boolean][] = [
    ["*/15 * * * *", (of) => of % 15 === 0],
    ["10 * * * *", (of) => of % 60 === 10],
    ["0 0 * * *", (of) => of === 0],
    ["30 1,2,3 * * *", (of) => [90, 150, 210].includes(of)],
  ];

  /** Every fifth local minute of a span with the moment that stands for it, found by looking at each of them. */
  function minutesOf(zone: string, from: number, to: number): Map<number, number> {
    const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
    const moments = new Map<number, number>();
    let latest: number | null = null;
    for (let now = from; now <= to; now += step) {
      const wall = Date.parse(`${format.format(now).replace(" ", "T")}Z`);
      for (let skipped = (latest ?? wall) + step; skipped <= wall; skipped += step) moments.set(skipped, now);
      if (latest === null) moments.set(wall, now);
      latest = Math.max(latest ?? wall, wall);
    }
    return moments;
  }

  /** The moments of a year at which the clock is set. */
  function changesOf(zone: string, year: number): number[] {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset", day: "numeric" });
    const offset = (now: number) => format.formatToParts(now).find(({ type }) => type === "timeZoneName")?.value;
    const days = Array.from({ length: 366 }, (_, index) => Date.UTC(year, 0, 1) + index * day);
    return days.filter((now) => offset(now) !== offset(now + day));
  }

  test("times are those of the clock on the wall, in many zones and years", () => {
    let changes = 0;
    for (const zone of zones) {
      for (const year of [2013, 2024, 2031]) {
        for (const change of [Date.UTC(year, 5, 1), ...changesOf(zone, year)]) {
          const [from, to] = [change - 4 * hour, change + 32 * hour];
          changes += 1;
          const moments = minutesOf(zone, from - 3 * hour, to);
          for (const [expression, matches] of patterns) {
            const due = [...moments]
              .filter(([wall]) => matches((((wall % day) + day) % day) / minute))
              .map(([, now]) => now);
            const expected = [...new Set(due)]
              .filter((now) => now > from && now <= to)
              .sort((one, other) => one - other);
            const timing = cron(expression, zone);
            const found = nextTimes(timing, from, expected.length + 1).filter((time) => time <= to);
            expect({ zone, year, expression, found: shown(found) }).toEqual({
              zone,
              year,
              expression,
              found: shown(expected),
            });
            expect(latestTimes(timing, from, to, 10_000)).toEqual(found);
            expect(latestTimes(timing, from, to, 3)).toEqual(found.slice(-3));
          }
        }
      }
    }
    expect(changes).toBeGreaterThan(50);
  }, 60_000);
});

describe("intervals", () => {
  const every: Timing = { when: { every_ms: 90 * minute }, timezone: "UTC", anchor: 1_000 };
  test.each([
    ["the first is one interval behind the beginning", 1_000, 1_000 + 90 * minute],
    ["before the beginning, for backfills", 1_000 - 91 * minute, 1_000 - 90 * minute],
    ["a time is not its own next", 1_000 + 90 * minute, 1_000 + 180 * minute],
    ["between two", 1_000 + 91 * minute, 1_000 + 180 * minute],
  ])("%s", (_, after, expected) => expect(nextTime(every, after)).toBe(expected));

  test("the latest of those that have been", () => {
    expect(latestTimes(every, 0, 1_000 + 360 * minute, 3)).toEqual([180, 270, 360].map((of) => 1_000 + of * minute));
    expect(latestTimes(every, 1_000, 90 * minute, 3)).toEqual([]);
  });
});

test("an expression that comes true no more has no next time", () => {
  expect(nextTime(cron("0 0 31 2 *"), 0)).toBeNull();
  expect(latestTimes(cron("0 0 31 2 *"), 0, day, 5)).toEqual([]);
});

describe("jitter", () => {
  const timing = cron("*/10 * * * *");
  const times = nextTimes(timing, at("2031-01-01T00:00Z"), 500);

  test("is the same each time, within its bound, and not the same for all", () => {
    const later = times.map((time) => startOf("one", 5 * minute, timing, time) - time);
    expect(times.map((time) => startOf("one", 5 * minute, timing, time) - time)).toEqual(later);
    expect(Math.min(...later)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...later)).toBeLessThan(5 * minute);
    expect(new Set(later.map((ms) => Math.floor(ms / minute))).size).toBe(5);
    expect(startOf("other", 5 * minute, timing, times[0] ?? 0)).not.toBe(
      startOf("one", 5 * minute, timing, times[0] ?? 0),
    );
  });

  test("never reaches behind the time that follows", () => {
    const starts = times.map((time) => startOf("one", hour, timing, time));
    for (const [index, start] of starts.entries())
      expect(start).toBeLessThan(times[index + 1] ?? Number.POSITIVE_INFINITY);
  });

  test("none: at the time itself", () => expect(startOf("one", 0, timing, times[0] ?? 0)).toBe(times[0] as number));
});
