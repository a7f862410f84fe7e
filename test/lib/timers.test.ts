import { expect, test } from "bun:test";
import { callAt } from "../../src/lib/timers.ts";
import { until } from "../harness/until.ts";

test("a moment that has come is now, one that is weeks away is not", async () => {
  const called: string[] = [];
  const callOff = callAt(
    2 ** 40,
    () => 0,
    () => called.push("far"),
  );
  callAt(
    1_000,
    () => 2_000,
    () => called.push("past"),
  );
  callAt(
    1_020,
    () => 1_000,
    () => called.push("soon"),
  );
  callAt(
    1_010,
    () => 1_000,
    () => called.push("never"),
  )();
  await until(() => called.length >= 2);
  expect(called).toEqual(["past", "soon"]);
  callOff();
});
