/** Times that queries name. */
import { afterAll, expect, test } from "bun:test";
import { readTime } from "../../../actors/kernel/time.ts";

const zone = process.env.TZ;
afterAll(() => {
  process.env.TZ = zone ?? "UTC";
});

test("a time without a zone is one of UTC, wherever the node stands", () => {
  process.env.TZ = "America/New_York";
  for (const text of ["2026-11-24T00:00:00", "2026-11-24 00:00", "2026-11-24", "2026-11-23T19:00:00-05:00"]) {
    expect(readTime("from", text).toISOString()).toBe("2026-11-24T00:00:00.000Z");
  }
});
