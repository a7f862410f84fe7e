/** The windows that uses are counted in. Pure. */
import type { RateBucket } from "./resources.ts";

/** A fixed window of UTC, Unix ms. The minute is no window: its bucket refills all the time. */
export function windowOf(bucket: Exclude<RateBucket, "per_minute">, now: number): { start: number; end: number } {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const hour = 3_600_000;
  switch (bucket) {
    case "hourly": {
      const start = Math.floor(now / hour) * hour;
      return { start, end: start + hour };
    }
    case "daily": {
      const start = Date.UTC(year, month, day);
      return { start, end: start + 24 * hour };
    }
    case "weekly": {
      // ISO weeks begin on Monday; getUTCDay counts from Sunday.
      const start = Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7));
      return { start, end: start + 7 * 24 * hour };
    }
    case "monthly":
      return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
  }
}

/** Seconds of a bucket's window as `RateLimit-Policy` gives it; months count as 30 days. */
export const windowSeconds: Readonly<Record<RateBucket, number>> = {
  per_minute: 60,
  hourly: 3600,
  daily: 86_400,
  weekly: 604_800,
  monthly: 2_592_000,
};
