/** What is told to meters, and how (docs/reference/usage.md). */
import { expect, test } from "bun:test";
import { meterValue, pauseAfter, pushId, readMeters, retriedForMs } from "../../../actors/usage/meters.ts";

test.each([
  ["no JSON", "{", "must be JSON"],
  ["no object", "[]", "must be a JSON object"],
  ["a figure that there is not", '{"cpu":"a"}', "not cpu"],
  ["no name", '{"cost":""}', "must give cost the name"],
  ["a name that is no text", '{"cost":1}', "must give cost the name"],
  ["one meter for two figures", '{"cost":"a","tool_calls":"a"}', "a is there twice"],
])("meters are refused that are %s", (_, text, fault) => {
  expect(readMeters(text)).toContain(fault);
});

test("meters are figures with a name each", () => {
  expect(readMeters('{"input_tokens":"tokens_in","cost":"spent"}')).toEqual({
    input_tokens: "tokens_in",
    cost: "spent",
  });
});

test.each([
  [0, null],
  [-1, null],
  [1e-13, null],
  [Number.NaN, null],
  [7, "7"],
  [1200, "1200"],
  [0.1 + 0.2, "0.3"],
  [10.05, "10.05"],
  [123456789.123456, "123456789.12346"],
  [900719925474099, "900719925474099"],
])("a sum of %p is told as %p", (sum, told) => {
  expect(meterValue(sum)).toBe(told);
  expect((told ?? "").replace(".", "").length).toBeLessThanOrEqual(15);
});

test("a push is known by tenant, figure and hour", () => {
  expect(pushId("acme", "cost", new Date("2031-04-02T09:00:00Z"))).toBe("acme:cost:2031-04-02T09");
});

test("attempts come further and further apart, and end within the provider's day", () => {
  const pauses = Array.from({ length: 30 }, (_, attempts) => pauseAfter(attempts + 1));
  expect(pauses.slice(0, 4)).toEqual([60_000, 120_000, 240_000, 480_000]);
  expect(Math.max(...pauses)).toBe(3_600_000);
  expect(retriedForMs + 120_000).toBeLessThan(24 * 3_600_000);
});
