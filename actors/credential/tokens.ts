/** When tokens of OAuth are refreshed, and when they end. Times are Unix milliseconds. */

/** How long before its end an access token is refreshed. */
const aheadMs = 5 * 60_000;
const firstRetryMs = 15_000;
const longestRetryMs = 10 * 60_000;

export interface TokenTimes {
  /** When the access token ends; null: never, as far as the provider tells. */
  readonly tokenExpiresAt: number | null;
  /** Null: it is not refreshed. */
  readonly refreshDueAt: number | null;
  /** When the credential ends, because nothing can refresh it; null: it goes on. */
  readonly expiresAt: number | null;
}

/** @param lifetimeSeconds as the provider tells; null: it tells none @param isRefreshable whether there is a refresh token */
export function tokenTimes(now: number, lifetimeSeconds: number | null, isRefreshable: boolean): TokenTimes {
  if (lifetimeSeconds === null) return { tokenExpiresAt: null, refreshDueAt: null, expiresAt: null };
  const lifetimeMs = Math.max(0, lifetimeSeconds * 1000);
  const end = now + lifetimeMs;
  if (!isRefreshable) return { tokenExpiresAt: end, refreshDueAt: null, expiresAt: end };
  // A token that lives for minutes only is used for half of them.
  return { tokenExpiresAt: end, refreshDueAt: end - Math.min(aheadMs, lifetimeMs / 2), expiresAt: null };
}

/** How long to wait before the next try, after that many in a row that the provider did not answer. */
export const refreshRetryMs = (failures: number): number =>
  Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(16, failures));
