/**
 * Takes over the timers of a former version, which kept them in Redis as delayed jobs of BullMQ. Each node does so for the
 * actors of its partitions, again from time to time, since nodes of that version may run beside it. For actors that had
 * work under way when the database was upgraded, the timers that their states ask for are set besides, whether or not
 * Redis still knows them. Setting a timer twice does nothing, and one that fires twice is a message that its actor judges.
 */
import type { Json } from "../../../actors/kernel/json.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { RedisClient } from "../../store/redis/connections.ts";
import type { Delivery } from "../mailbox/mailbox.ts";
import type { Address } from "../port.ts";
import { deleteRearm, readRearm } from "./store.ts";

const pageSize = 1_000;
/** Actors under way at once. */
const atOnce = 128;

export interface FormerTimersOptions {
  readonly sql: Sql;
  /** Each command names one key. */
  readonly redis: RedisClient;
  /** The one of BullMQ's keys. */
  readonly prefix: string;
  /** Whether this node owns the actor's partition. */
  isHere(actor: Pick<Address, "kind" | "key">): boolean;
  /** Resolves when the timers are committed. */
  rearm(actor: Address, wanted: NonNullable<Delivery["rearm"]>): Promise<void>;
}

/** What a job of the former version holds. */
interface FormerTimer extends Address {
  readonly timer: string;
  readonly at: number;
  readonly type: string;
  readonly body: Json;
}

/** One round: takes over what belongs to this node. @throws when a store is away; the rest is taken next time */
export async function takeOverTimers(options: FormerTimersOptions): Promise<void> {
  await setStated(options);
  await takeJobs(options);
}

async function setStated({ sql, isHere, rearm }: FormerTimersOptions): Promise<void> {
  let after = { kind: "", key: "" };
  for (;;) {
    const page = await readRearm(sql, after, pageSize);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last;
    const mine = page.filter(isHere);
    for (let start = 0; start < mine.length; start += atOnce) {
      const some = mine.slice(start, start + atOnce);
      await Promise.all(some.map((actor) => rearm(actor, "as stated")));
      await deleteRearm(sql, some);
    }
  }
}

async function takeJobs(options: FormerTimersOptions): Promise<void> {
  const { redis } = options;
  const queue = `${options.prefix}:timers`;
  await takePages(options, queue, {
    page: (start) => redis.zrange(`${queue}:delayed`, start, String(start + pageSize - 1)),
    remove: (id) => redis.zrem(`${queue}:delayed`, id),
  });
  // Due, and taken by no worker; or by one that is gone.
  for (const list of ["wait", "active"]) {
    await takePages(options, queue, {
      page: (start) => redis.lrange(`${queue}:${list}`, start, start + pageSize - 1),
      remove: (id) => redis.lrem(`${queue}:${list}`, 0, id),
    });
  }
}

interface Line {
  page(start: number): Promise<readonly string[]>;
  remove(id: string): Promise<number>;
}

async function takePages(options: FormerTimersOptions, queue: string, { page, remove }: Line): Promise<void> {
  for (let start = 0; ; ) {
    const ids = await page(start);
    if (ids.length === 0) return;
    const mine = ids.filter((id) => {
      const actor = actorOf(id);
      return actor !== null && options.isHere(actor);
    });
    for (let from = 0; from < mine.length; from += atOnce) {
      await Promise.all(mine.slice(from, from + atOnce).map((id) => takeJob(options, queue, id, remove)));
    }
    start += ids.length - mine.length;
  }
}

async function takeJob(
  { redis, rearm }: FormerTimersOptions,
  queue: string,
  id: string,
  remove: Line["remove"],
): Promise<void> {
  const data = await redis.hget(`${queue}:${id}`, "data");
  if (data !== null) {
    const { kind, key, tenant, timer, at, type, body } = JSON.parse(data) as FormerTimer;
    await rearm({ kind, key, tenant }, [{ timer, at, type, body: JSON.stringify(body) }]);
  }
  // Where a worker of the former version was faster, the job is its own.
  if ((await remove(id)) > 0) await redis.del(`${queue}:${id}`);
}

/** Jobs were called `<kind>~<key>~<timer>`, `%` and `:` escaped. */
function actorOf(id: string): Pick<Address, "kind" | "key"> | null {
  const [kind, key, timer] = id.replaceAll("%3A", ":").replaceAll("%25", "%").split("~");
  return kind === undefined || key === undefined || timer === undefined ? null : { kind, key };
}
