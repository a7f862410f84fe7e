/** When tokens are refreshed, and when they end (docs/reference/credentials.md). */
import { expect, test } from "bun:test";
import { refreshRetryMs, tokenTimes } from "../../../actors/credential/tokens.ts";

const minute = 60_000;

test.each([
  ["an hour, refreshable", 3600, true, { tokenExpiresAt: 60, refreshDueAt: 55, expiresAt: null }],
  ["four minutes, refreshable", 240, true, { tokenExpiresAt: 4, refreshDueAt: 2, expiresAt: null }],
  ["an hour, not refreshable", 3600, false, { tokenExpiresAt: 60, refreshDueAt: null, expiresAt: 60 }],
  ["no end", null, true, { tokenExpiresAt: null, refreshDueAt: null, expiresAt: null }],
] as const)("a token of %s has its times", (_, seconds, isRefreshable, minutes) => {
  const at = (value: number | null) => (value === null ? null : value * minute);
  expect(tokenTimes(0, seconds, isRefreshable)).toEqual({
    tokenExpiresAt: at(minutes.tokenExpiresAt),
    refreshDueAt: at(minutes.refreshDueAt),
    expiresAt: at(minutes.expiresAt),
  });
});

test("a provider that does not answer is asked again after up to ten minutes", () => {
  expect([0, 1, 2, 50].map(refreshRetryMs)).toEqual([15_000, 30_000, 60_000, 600_000]);
});
