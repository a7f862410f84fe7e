/**
 * Mailboxes: one Redis stream per partition.
 *
 * Sending is an XADD, of many messages with one command (`appending.ts`). Reading (`reader.ts`) follows the streams of all partitions this node owns with one blocking
 * XREAD for each slot group, from the offset that PostgreSQL holds; an entry leaves its stream only after the turn it caused
 * is committed. There is no consumer group: the owner is unique by lease and epoch, and the offset moves
 * in the transaction of the turn, which makes redelivery after a crash exact without acknowledgements.
 */

import type { RedisClient } from "../../store/redis/connections.ts";
import { scriptCommand } from "../../store/redis/script.ts";
import { MailboxFull } from "../port.ts";
import { Appending } from "./appending.ts";
import type { Envelope } from "./envelope.ts";
import type { Keys } from "./partition.ts";
import { MailboxSizes } from "./sizes.ts";
import type { TimerRequest, TimerRow } from "./timer-row.ts";

const usualLimitBytes = 256 * 1024 * 1024;

export interface MailboxWriterOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** Messages a partition may hold before senders are told to come back. */
  readonly limit: number;
  /** And bytes that they take in Redis, about; 256 MiB when left out. */
  readonly limitBytes?: number;
  readonly now: () => number;
}

export class MailboxWriter {
  private readonly appending: Appending;
  private readonly sizes: MailboxSizes;

  constructor(private readonly options: MailboxWriterOptions) {
    const { redis, keys, now } = options;
    this.appending = new Appending(redis, keys.slotGroups > 1);
    this.sizes = new MailboxSizes(redis, keys, now);
  }

  /**
   * Appends a message; when this resolves it is accepted.
   * @throws MailboxFull over the bound, RuntimeUnavailable when Redis does not answer
   */
  send(partition: number, envelope: Envelope): Promise<void> {
    const { keys, limit, limitBytes = usualLimitBytes } = this.options;
    const { messages, bytes } = this.sizes.of(partition);
    if (messages >= limit || bytes >= limitBytes) return Promise.reject(new MailboxFull(1));
    return this.appending.append(keys.mailbox(partition), envelope);
  }
}

/** Appends messages to a mailbox, all or none, in their order. */
export type AppendAll = (key: string, texts: readonly string[]) => Promise<unknown>;

export function appendAll(redis: RedisClient): AppendAll {
  const run = scriptCommand(redis, "append-all");
  return (key, texts) => (texts.length === 1 ? redis.xadd(key, "*", "m", texts[0] as string) : run([key], texts));
}

/** Where a message stands that waited for a node that knows it. */
export interface ParkedPlace {
  readonly seq: string;
  /** The work whose outcome it is. */
  readonly activity: string | null;
}

/** One mailbox entry as read. `envelope` is null when the entry is damaged beyond reading. */
export interface Delivery {
  readonly partition: number;
  /** Null for a message that was handed over in memory and never stood in a mailbox. */
  readonly id: string | null;
  readonly envelope: Envelope | null;
  readonly raw: string;
  /** The timer that became this message. */
  readonly timer?: TimerRow;
  /** Not a message: the actor's timers are to be set, these or those that its state asks for. */
  readonly rearm?: readonly TimerRequest[] | "as stated";
  /** Set when it waited for a node that knows it. */
  readonly parked?: ParkedPlace;
  /** Read from PostgreSQL, where it stays until its turn is committed. */
  readonly isRefill?: true;
}

/** Stream ids are `<ms>-<n>`; both parts compare as numbers. */
export function compareStreamIds(left: string, right: string): number {
  const [leftMs = "0", leftN = "0"] = left.split("-");
  const [rightMs = "0", rightN = "0"] = right.split("-");
  return Number(leftMs) - Number(rightMs) || Number(leftN) - Number(rightN);
}

/** The first id that an entry behind this one can have. */
export function firstAfter(offset: string): string {
  const [ms = "0", n = "0"] = offset.split("-");
  return `${ms}-${Number(n) + 1}`;
}

/** Removes the entries up to and including `offset`: their turns are committed. */
export function trimTo(redis: RedisClient, key: string, offset: string): Promise<unknown> {
  return redis.xtrim(key, "MINID", firstAfter(offset));
}

/**
 * Makes sure that the next entry of a mailbox gets an id above `offset`. Ids follow Redis's clock; a
 * store that was emptied or restored on a machine whose clock is behind would hand out ids that the
 * partition has already passed, and those messages would never be read.
 */
export async function keepIdsAbove(redis: RedisClient, key: string, offset: string): Promise<void> {
  if (offset === "0-0") return;
  const info = (await redis.xinfo("STREAM", key).catch((error: Error) => {
    if (/no such key/i.test(error.message)) return null;
    throw error;
  })) as unknown[] | null;
  const last = info === null ? "0-0" : String(info[info.indexOf("last-generated-id") + 1]);
  if (compareStreamIds(last, offset) >= 0) return;
  if (info === null) {
    await redis.xgroup("CREATE", key, "placeholder", "0", "MKSTREAM").catch(() => {});
    await redis.xgroup("DESTROY", key, "placeholder").catch(() => {});
  }
  await redis.call("XSETID", key, offset);
}
