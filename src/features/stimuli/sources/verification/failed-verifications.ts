/**
 * Deliveries whose signature was wrong, per client address, source and URL (docs/reference/stimuli.md): past 30 a
 * minute further wrong ones are answered 429, and large bodies are not read. A right signature is never refused for
 * others' wrong ones.
 *
 * The count lies in Redis, for all nodes together. A node that has met the end of a sender's minute remembers that until
 * the minute is over: deliveries that are in order never wait for Redis.
 */
import { LRUCache } from "lru-cache";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { withTimeout } from "../../../../lib/timers.ts";
import { openRedis, type RedisServers } from "../../../../store/redis/connections.ts";
import { scriptCommand } from "../../../../store/redis/script.ts";

/** Whose failures are counted together. */
export interface Sender {
  /** Of the client; null: unknown. */
  readonly address: string | null;
  readonly source: string;
  /** At a source's own URL its id; null: the bare URL. */
  readonly sourceId: string | null;
}

export interface FailedVerifications {
  /** What a failure of this sender is answered with, 429 `rate_limited`; null while it may still fail. */
  exhausted(sender: Sender): Problem | null;
  /**
   * Counts one signature that was wrong.
   * @throws Problem 429 `rate_limited` once there are too many
   */
  count(sender: Sender): Promise<void>;
  close(): void;
}

export interface FailedVerificationsOptions {
  readonly redisServers: RedisServers;
  /** Of every key. */
  readonly prefix: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Failures let through in a minute; 30 when absent. */
  readonly perMinute?: number;
  /** Senders remembered at most; 50,000 when absent. Past it the one unused for longest is forgotten. */
  readonly maxSenders?: number;
  /** How long Redis may take before a node goes by its own count, ms; 1,000 when absent. */
  readonly timeoutMs?: number;
}

interface Count {
  readonly failures: number;
  readonly leftMs: number;
}

const windowMs = 60_000;

export function openFailedVerifications(options: FailedVerificationsOptions): FailedVerifications {
  const { now, perMinute = 30, maxSenders = 50_000, timeoutMs = 1_000 } = options;
  const redis = openRedis(options.redisServers);
  const countInRedis = scriptCommand(redis, "count-in-window");
  /** Sender → until when it has used its minute up, Unix milliseconds. */
  const blocked = new LRUCache<string, number>({ max: maxSenders });
  const ownCount = createOwnCount(now, maxSenders);

  async function counted(name: string): Promise<Count> {
    try {
      const counting = countInRedis([`${options.prefix}:failed-verifications:${name}`], [windowMs]);
      const reply = await withTimeout(counting, timeoutMs, () => new Error("Redis did not answer in time"));
      const [failures, leftMs] = reply as [number, number];
      return { failures, leftMs };
    } catch {
      return ownCount(name);
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
    exhausted(sender) {
      // Nearly always: no name has to be made.
      if (blocked.size === 0) return null;
      const name = nameOf(sender);
      const until = blocked.get(name);
      if (until === undefined) return null;
      const leftMs = until - now();
      if (leftMs > 0) return tooMany(leftMs);
      blocked.delete(name);
      return null;
    },
    async count(sender) {
      const name = nameOf(sender);
      const { failures, leftMs } = await counted(name);
      if (failures <= perMinute) return;
      blocked.set(name, now() + leftMs);
      throw tooMany(leftMs);
    },
    close: () => redis.disconnect(),
  };
}

/** Neither addresses nor sources hold blanks. */
const nameOf = ({ address, source, sourceId }: Sender): string => `${address ?? ""} ${source} ${sourceId ?? ""}`;

/** What one node counts while Redis is away. */
function createOwnCount(now: () => number, maxSenders: number): (name: string) => Count {
  const windows = new LRUCache<string, { readonly since: number; failures: number }>({ max: maxSenders });
  return (name) => {
    const at = now();
    const known = windows.get(name);
    const window = known !== undefined && at - known.since < windowMs ? known : { since: at, failures: 0 };
    window.failures++;
    if (window !== known) windows.set(name, window);
    return { failures: window.failures, leftMs: window.since + windowMs - at };
  };
}
