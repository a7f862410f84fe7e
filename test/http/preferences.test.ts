import { expect, test } from "bun:test";
import fc from "fast-check";
import { preferredWait } from "../../src/http/preferences.ts";

const wait = (prefer: string) => preferredWait(new Headers({ Prefer: prefer }), 60);

test.each<[string, number | null]>([
  ["wait=10", 10],
  ["respond-async, wait=10", 10],
  ["respond-async,WAIT = 7 ; unit=s", 7],
  ['wait="5"', 5],
  ["wait=0", 0],
  ["wait=61", 60],
  ["wait=999999999", 60],
  ["wait=1, wait=2", 1],
  ['return="a,wait=3", wait=4', 4],
  ['x="\\",wait=9", wait=2', 2],
  ["wait", null],
  ["wait=", null],
  ["wait=-1", null],
  ["wait=1.5", null],
  ["wait=9999999999", null],
  ["wait=ten, wait=3", null],
  ["waits=3", null],
  ["", null],
])("%s", (header, seconds) => {
  expect(wait(header)).toBe(seconds);
});

test("no header is no wish", () => expect(preferredWait(new Headers(), 60)).toBeNull());

test("any header has an answer within bounds", () => {
  const part = fc.constantFrom("wait", "=", '"', "\\", ",", ";", " ", "5", "-", "x");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const seconds = wait(parts.join(""));
      expect(seconds === null || (Number.isInteger(seconds) && seconds >= 0 && seconds <= 60)).toBe(true);
    }),
  );
});
