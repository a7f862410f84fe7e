/** A span of time is read as days, hours and single activities, each moment of it once (docs/reference/usage.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { dayMs, hourMs, type Span, spansOf } from "../../../actors/usage/spans.ts";

const minute = 60_000;
const moment = fc.integer({ min: 0, max: 10 * 24 * 60 }).map((minutes) => minutes * minute);

test("the parts of a span are whole units before their marks, and together the span", () => {
  fc.assert(
    fc.property(moment, moment, moment, moment, (one, other, hourMark, dayMark) => {
      const span = { from: Math.min(one, other), to: Math.max(one, other) };
      const summed = { hours: hourMark - (hourMark % hourMs), days: Math.min(dayMark, hourMark) };
      const { days, hours, activities } = spansOf(span, summed);
      for (const { from, to } of days) expect([from % dayMs, to % dayMs, to <= summed.days]).toEqual([0, 0, true]);
      for (const { from, to } of hours) expect([from % hourMs, to % hourMs, to <= summed.hours]).toEqual([0, 0, true]);
      const parts = [...days, ...hours, ...activities].sort((left, right) => left.from - right.from);
      let at = span.from;
      for (const { from, to } of parts as readonly Span[]) {
        expect([from, to > from || span.from === span.to]).toEqual([at, true]);
        at = to;
      }
      expect(at).toBe(span.to);
    }),
  );
});

test("what is summed up is not read one by one", () => {
  const mark = { hours: 3 * dayMs + 5 * hourMs, days: 3 * dayMs };
  const span = { from: dayMs - 90 * minute, to: 3 * dayMs + 6 * hourMs };
  expect(spansOf(span, mark)).toEqual({
    days: [{ from: dayMs, to: 3 * dayMs }],
    hours: [
      { from: dayMs - hourMs, to: dayMs },
      { from: 3 * dayMs, to: mark.hours },
    ],
    activities: [
      { from: dayMs - 90 * minute, to: dayMs - hourMs },
      { from: mark.hours, to: span.to },
    ],
  });
});
