/**
 * The changes of followed tenants in Redis: of each record its newest state under a number that grows over all of the
 * tenant, for an hour after the change. Numbers are microseconds of Redis's clock, so that they grow over its loss too.
 */
import { type ChangeType, type RecordChange, readRecord, recordOf } from "../../../actors/change/change.ts";
import type { NumberedChange } from "../../../actors/change/unread.ts";
import { openRedis, type RedisServers } from "../../store/redis/connections.ts";
import { scriptCommand } from "../../store/redis/script.ts";

/** At most four a second of a record. */
const restMs = 250;
/** Records of a tenant whose changes are kept; the oldest go first. */
const mostRecords = 20_000;
/** An hour, and what nodes and clocks may differ by. */
const keptMs = 65 * 60_000;
/** How long all of it stays without a follower, seconds; less than a tenant counts as followed. */
const keptSeconds = 70 * 60;

export interface StoredChange extends NumberedChange {
  readonly type: ChangeType;
}

export interface ChangePage {
  /** Changes up to this number may be gone. */
  readonly floor: number;
  /** Some up to this number may have been lost. */
  readonly lost: number;
  /** The last number that was given. */
  readonly last: number;
  /** Ascending. */
  readonly changes: readonly StoredChange[];
  /** Where the next page begins. */
  readonly next: number;
  readonly more: boolean;
}

export type ChangeStore = ReturnType<typeof openChangeStore>;

/** @param prefix of every key @param most records of a tenant that are kept */
export function openChangeStore(redisServers: RedisServers, prefix: string, pageSize = 500, most = mostRecords) {
  const redis = openRedis(redisServers);
  const [appending, following, losing, reading] = (["append", "follow", "lose", "read"] as const).map((name) =>
    scriptCommand(redis, `changes-${name}`),
  ) as [Script, Script, Script, Script];
  const keysOf = (tenant: string) => {
    const key = `${prefix}:{changes-${tenant}}`;
    return [`${key}:known`, `${key}:numbers`, `${key}:states`];
  };

  return {
    restMs,

    /**
     * @param isLast the node leaves: nothing waits
     * @returns how long each change is too early, ms, 0 for those that are told; null: the tenant is not followed
     */
    async append(tenant: string, changes: readonly RecordChange[], isLast: boolean): Promise<readonly number[] | null> {
      const values = changes.flatMap((change) => {
        const { status, at, rev, telling } = change;
        return [recordOf(change), status, at, rev ?? "", telling];
      });
      const bounds = [isLast ? 0 : restMs * 1000, most, keptMs * 1000];
      return (await appending(keysOf(tenant), [...bounds, ...values])) as number[] | null;
    },

    /** Begins to keep a tenant's changes, or goes on. */
    async follow(tenant: string): Promise<{ readonly last: number }> {
      const [, last] = (await following(keysOf(tenant), [keptSeconds])) as [string, string];
      return { last: Number(last) };
    },

    /** Some may have been lost. @param above numbers that are known to be given out, up to this one */
    async lose(tenant: string, above: number): Promise<void> {
      await losing(keysOf(tenant), [above]);
    },

    /** Changes behind a number; null: the tenant is not followed. */
    async read(tenant: string, after: number): Promise<ChangePage | null> {
      const answer = (await reading(keysOf(tenant), [after, pageSize])) as string[] | null;
      if (answer === null) return null;
      const [floor = "0", lost = "0", last = "0", ...rows] = answer;
      const changes: StoredChange[] = [];
      for (let at = 0; at + 2 < rows.length; at += 3) {
        const change = changeOf(rows[at] ?? "", Number(rows[at + 1]), rows[at + 2] ?? "");
        if (change !== null) changes.push(change);
      }
      const isFull = rows.length === 3 * pageSize;
      const next = rows.length === 0 ? after : Number(rows.at(-2));
      return { floor: Number(floor), lost: Number(lost), last: Number(last), changes, next, more: isFull };
    },

    async erase(tenant: string): Promise<void> {
      await redis.del(...keysOf(tenant));
    },

    close: (): void => redis.disconnect(),
  };
}

type Script = ReturnType<typeof scriptCommand>;

/** Null for what a later version wrote. */
function changeOf(record: string, number: number, state: string): StoredChange | null {
  const named = readRecord(record);
  const [rev, status = "", at] = state.split(" ");
  if (named === null) return null;
  const { type, id } = named;
  const text = JSON.stringify({ type, id, status, at: new Date(Number(at)).toISOString(), rev: Number(rev) });
  return { type, number, record, text };
}
