/**
 * Which tenants are followed, or were within the hour: changes of all others are not written.
 *
 * They stand in a sorted set with the times at which they end. A node that has something to tell goes by what it read
 * there for 200 ms; it reads the set anew only where a mark beside it has changed. A follower of a tenant that was not
 * followed is answered later than that: every node knows then, and what was committed before is in the lists that the
 * follower reads next.
 */
import { openRedis, type RedisServers } from "../../store/redis/connections.ts";

/** How long a node goes by what it read, ms. */
const holdsMs = 200;
/** The same where a tenant is followed: to write what is not followed any more does no harm. */
const followedHoldsMs = 60_000;
/** After this every node knows of an entry. */
const knownAfterMs = 250;
/** An entry that is older is known everywhere, as far as the clocks of nodes differ, ms. */
const settledMs = 5_000;
/** How long a tenant counts as followed after its last follower, ms; more than its changes are kept. */
const livesMs = 80 * 60_000;

export interface WatchedOptions {
  readonly redisServers: RedisServers;
  /** Of every key. */
  readonly prefix: string;
  readonly newId: () => string;
  /** Unix milliseconds, the same on all nodes. */
  readonly now: () => number;
}

export type Watched = ReturnType<typeof openWatched>;

export function openWatched({ redisServers, prefix, newId, now }: WatchedOptions) {
  const redis = openRedis(redisServers);
  const key = `${prefix}:{changes}`;
  let tenants: ReadonlyMap<string, number> = new Map();
  let mark: string | null | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let readAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;

  async function look(): Promise<void> {
    // What is written while this is under way may be missing: it holds from its beginning.
    const at = performance.now();
    const found = await redis.get(`${key}:mark`);
    if (found !== mark || at - readAt > followedHoldsMs) {
      const members = await redis.zrangebyscore(`${key}:followed`, now(), "+inf", "WITHSCORES");
      const ends = new Map<string, number>();
      for (let index = 0; index + 1 < members.length; index += 2)
        ends.set(members[index] ?? "", Number(members[index + 1]));
      tenants = ends;
      mark = found;
      readAt = at;
    }
    lookedAt = at;
  }

  const isHeld = (tenant: string): boolean => (tenants.get(tenant) ?? 0) > now();

  return {
    /** Whether the tenant is followed; null: a look is due. */
    has(tenant: string): boolean | null {
      const age = performance.now() - lookedAt;
      if (isHeld(tenant)) return age <= followedHoldsMs ? true : null;
      return age <= holdsMs ? false : null;
    },

    /** @throws when Redis does not answer */
    look(): Promise<void> {
      looking ??= look().finally(() => {
        looking = null;
      });
      return looking;
    },

    /** As the last look had it. */
    all: (): readonly string[] => [...tenants.keys()].filter(isHeld),

    /** The tenant is followed here, or still is. Resolves once every node knows. @throws when Redis does not answer */
    async follow(tenant: string): Promise<void> {
      await this.look();
      const at = now();
      const since = (tenants.get(tenant) ?? 0) - livesMs;
      const end = at + livesMs;
      // One that is new is not known everywhere yet, and one that ends may have ended before this renews it.
      if (since < at - settledMs && since > at - livesMs + settledMs) {
        await redis.zadd(`${key}:followed`, end, tenant);
        return;
      }
      await redis.multi().zadd(`${key}:followed`, end, tenant).set(`${key}:mark`, newId()).exec();
      redis.zremrangebyscore(`${key}:followed`, "-inf", at).catch(() => {});
      await Bun.sleep(knownAfterMs);
      await this.look();
    },

    /** Nothing of the tenant is told any more. */
    async erase(tenant: string): Promise<void> {
      await redis.zrem(`${key}:followed`, tenant);
    },

    /** What was read may not be true any more. */
    forget(): void {
      mark = undefined;
      lookedAt = Number.NEGATIVE_INFINITY;
    },

    close: (): void => redis.disconnect(),
  };
}
