/** Durations, quantities and processor shares (docs/reference/agents.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readBytes, readDuration, readMillicores } from "../../../actors/manifest/quantities.ts";

describe("durations", () => {
  test.each([
    [300, 300_000],
    ["300", 300_000],
    ["300s", 300_000],
    ["5m", 300_000],
    ["1h", 3_600_000],
    ["1h30m", 5_400_000],
    ["1h1m1s", 3_661_000],
    ["0s", 0],
    ["7d", 604_800_000],
    ["1d12h", 129_600_000],
  ])("%p is %p ms", (value, ms) => expect(readDuration(value)).toBe(ms));

  test.each([
    [""],
    ["-5s"],
    [-5],
    ["5 m"],
    ["1h1d"],
    ["1w"],
    ["m5"],
    ["1m1h"],
    ["1.5h"],
    [1.5],
    ["Infinity"],
    [null],
    [{}],
  ])("%p is none", (value) => expect(readDuration(value)).toBeNull());

  test("days, hours, minutes and seconds add up", () => {
    fc.assert(
      fc.property(fc.nat(9999), fc.nat(9999), fc.nat(9999), fc.nat(9999), (d, h, m, s) => {
        expect(readDuration(`${d}d${h}h${m}m${s}s`)).toBe((d * 86_400 + h * 3600 + m * 60 + s) * 1000);
      }),
    );
  });
});

describe("bytes", () => {
  test.each([
    [1048576, 1048576],
    ["1048576", 1048576],
    ["512Mi", 512 * 2 ** 20],
    ["1Gi", 2 ** 30],
    ["1.5Gi", 1.5 * 2 ** 30],
    ["2K", 2000],
    ["1T", 1e12],
  ])("%p is %p", (value, bytes) => expect(readBytes(value)).toBe(bytes));

  test.each([
    [""],
    ["Mi"],
    ["512MB"],
    ["512mi"],
    ["-1Mi"],
    [" 1Mi"],
    [-1],
    [1.5],
    [null],
    [Number.NaN],
    ["9".repeat(400)],
  ])("%p is none", (value) => expect(readBytes(value)).toBeNull());
});

describe("processor shares", () => {
  test.each([
    [500, 500],
    ["500m", 500],
    ["500", 500],
    ["1.5", 1500],
    [1.5, 1500],
    ["0.05", 50],
  ])("%p is %p millicores", (value, millicores) => expect(readMillicores(value)).toBe(millicores));

  test.each([["1.5m"], ["half"], [""], [-1], [Number.POSITIVE_INFINITY], [true]])("%p is none", (value) =>
    expect(readMillicores(value)).toBeNull(),
  );
});

test("every accepted quantity is a non-negative integer", () => {
  const anything = fc.oneof(fc.string(), fc.double(), fc.integer(), fc.anything());
  fc.assert(
    fc.property(anything, (value) => {
      for (const read of [readDuration, readBytes, readMillicores]) {
        const measured = read(value);
        expect(measured === null || (Number.isSafeInteger(measured) && measured >= 0)).toBe(true);
      }
    }),
  );
});
