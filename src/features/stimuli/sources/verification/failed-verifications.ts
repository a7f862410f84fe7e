/**
 * Deliveries whose signature was wrong, per client address and source (docs/reference/stimuli.md): past 30 a
 * minute they are answered 429.
 *
 * The count lies in Redis, for all nodes together. A node that has met the end of a pair's minute turns that pair away
 * by itself until the minute is over: deliveries that are in order never wait for Redis.
 */
import { LRUCache } from "lru-cache";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { withTimeout } from "../../../../lib/timers.ts";
import { openRedis } from "../../../../store/redis.ts";
import { scriptCommand } from "../../../../store/script.ts";

export interface FailedVerifications {
  /** @throws Problem 429 `rate_limited` while the pair has used its minute up */
  check(address: string | null, source: string): void;
  /**
   * Counts one signature that was wrong.
   * @throws Problem 429 `rate_limited` once there are too many
   */
  count(address: string | null, source: string): Promise<void>;
  close(): void;
}

export interface FailedVerificationsOptions {
  readonly redisUrl: string;
  /** Of every key. */
  readonly prefix: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Failures let through in a minute; 30 when absent. */
  readonly perMinute?: number;
  /** Pairs remembered at most; 50,000 when absent. Past it the one unused for longest is forgotten. */
  readonly maxPairs?: number;
  /** How long Redis may take before a node goes by its own count, ms; 1,000 when absent. */
  readonly timeoutMs?: number;
}

interface Count {
  readonly failures: number;
  readonly leftMs: number;
}

const windowMs = 60_000;

export function openFailedVerifications(options: FailedVerificationsOptions): FailedVerifications {
  const { now, perMinute = 30, maxPairs = 50_000, timeoutMs = 1_000 } = options;
  const redis = openRedis(options.redisUrl);
  const countInRedis = scriptCommand(redis, "count-in-window");
  /** Pair → until when it is turned away, Unix milliseconds. */
  const blocked = new LRUCache<string, number>({ max: maxPairs });
  const ownCount = createOwnCount(now, maxPairs);

  async function counted(pair: string): Promise<Count> {
    try {
      const counting = countInRedis([`${options.prefix}:failed-verifications:${pair}`], [windowMs]);
      const reply = await withTimeout(counting, timeoutMs, () => new Error("Redis did not answer in time"));
      const [failures, leftMs] = reply as [number, number];
      return { failures, leftMs };
    } catch {
      return ownCount(pair);
    }
  }

  function tooMany(leftMs: number): Problem {
    const seconds = Math.max(1, Math.ceil(leftMs / 1000));
    const headers = {
      "RateLimit-Limit": String(perMinute),
      "X-RateLimit-Limit": String(perMinute),
      "RateLimit-Remaining": "0",
      "X-RateLimit-Remaining": "0",
      "RateLimit-Reset": String(seconds),
      "X-RateLimit-Reset": String(Math.ceil(now() / 1000) + seconds),
      "RateLimit-Policy": `${perMinute};w=${windowMs / 1000}`,
      "Retry-After": String(seconds),
    };
    return new Problem("rate_limited", "Too many deliveries with a wrong signature", {}, headers);
  }

  return {
    check(address, source) {
      // Nearly always: no name has to be made.
      if (blocked.size === 0) return;
      const pair = pairOf(address, source);
      const until = blocked.get(pair);
      if (until === undefined) return;
      const leftMs = until - now();
      if (leftMs > 0) throw tooMany(leftMs);
      blocked.delete(pair);
    },
    async count(address, source) {
      const pair = pairOf(address, source);
      const { failures, leftMs } = await counted(pair);
      if (failures <= perMinute) return;
      blocked.set(pair, now() + leftMs);
      throw tooMany(leftMs);
    },
    close: () => redis.disconnect(),
  };
}

/** No address holds a blank. */
const pairOf = (address: string | null, source: string): string => `${address ?? ""} ${source}`;

/** What one node counts while Redis is away. */
function createOwnCount(now: () => number, maxPairs: number): (pair: string) => Count {
  const windows = new LRUCache<string, { readonly since: number; failures: number }>({ max: maxPairs });
  return (pair) => {
    const at = now();
    const known = windows.get(pair);
    const window = known !== undefined && at - known.since < windowMs ? known : { since: at, failures: 0 };
    window.failures++;
    if (window !== known) windows.set(pair, window);
    return { failures: window.failures, leftMs: window.since + windowMs - at };
  };
}
