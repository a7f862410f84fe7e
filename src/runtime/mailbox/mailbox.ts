/**
 * Mailboxes: one Redis stream per partition.
 *
 * Sending is one XADD. Reading (`reader.ts`) follows the streams of all partitions this node owns with one blocking
 * XREAD for each slot group, from the offset that PostgreSQL holds; an entry leaves its stream only after the turn it caused
 * is committed. There is no consumer group: the owner is unique by lease and epoch, and the offset moves
 * in the transaction of the turn, which makes redelivery after a crash exact without acknowledgements.
 */

import { inBatches } from "../../store/batches.ts";
import { boundedFromNow, type RedisClient } from "../../store/redis/connections.ts";
import { scriptCommand } from "../../store/redis/script.ts";
import { MailboxFull, RuntimeUnavailable } from "../port.ts";
import { type Envelope, encodeEnvelope } from "./envelope.ts";
import type { Keys } from "./partition.ts";
import type { TimerRequest, TimerRow } from "./timer-row.ts";

/** How long a look at a mailbox's length stays good, ms. The bound is soft by what arrives meanwhile. */
const lengthTtl = 50;
const usualLimitBytes = 256 * 1024 * 1024;
/** Messages that a mailbox holds at any size. */
const fewMessages = 64;

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
  private readonly lengths = new Map<number, { length: number; bytes: number; at: number }>();

  /** Appends a message to a stream. */
  private readonly append: (key: string, text: string) => Promise<unknown>;

  constructor(private readonly options: MailboxWriterOptions) {
    const { redis, keys } = options;
    this.append = keys.slotGroups === 1 ? (key, text) => redis.xadd(key, "*", "m", text) : appendInTurn(redis);
  }

  /** Looks how full a mailbox is, while the message goes on its way. */
  private look(partition: number, key: string, at: number): void {
    const { redis } = this.options;
    const seen = this.lengths.get(partition);
    const entry = { length: seen?.length ?? 0, bytes: seen?.bytes ?? 0, at };
    this.lengths.set(partition, entry);
    redis
      .xlen(key)
      .then(async (length) => {
        entry.length = length;
        entry.bytes = length < fewMessages ? 0 : ((await redis.memory("USAGE", key)) ?? 0);
      })
      .catch(() => {});
  }

  /**
   * Appends a message; when this resolves it is accepted.
   * @throws MailboxFull over the bound, RuntimeUnavailable when Redis does not answer
   */
  async send(partition: number, envelope: Envelope): Promise<void> {
    const { redis, keys, limit, limitBytes = usualLimitBytes, now } = this.options;
    const key = keys.mailbox(partition);
    const seen = this.lengths.get(partition);
    const at = now();
    if (seen === undefined || at - seen.at > lengthTtl) this.look(partition, key, at);
    if (seen !== undefined && (seen.length >= limit || seen.bytes >= limitBytes)) throw new MailboxFull(1);
    try {
      await boundedFromNow(redis, this.append(key, encodeEnvelope(envelope)));
    } catch (error) {
      throw new RuntimeUnavailable(`The message store did not accept the message: ${(error as Error).message}`);
    }
  }
}

/** Appends messages to a mailbox, all or none, in their order. */
export type AppendAll = (key: string, texts: readonly string[]) => Promise<unknown>;

export function appendAll(redis: RedisClient): AppendAll {
  const run = scriptCommand(redis, "append-all");
  return (key, texts) => (texts.length === 1 ? redis.xadd(key, "*", "m", texts[0] as string) : run([key], texts));
}

/** Messages in one command at most. */
const mostTogether = 256;

/**
 * Appends for a Cluster, whose client does not keep commands in order where it is redirected or a node fails: a message
 * that overtakes an earlier one of its sender would make that one look like a repeat. So one command at a time is under
 * way for each mailbox, with all that came meanwhile.
 */
function appendInTurn(redis: RedisClient): (key: string, text: string) => Promise<unknown> {
  const append = appendAll(redis);
  const lines = new Map<string, (text: string) => Promise<unknown>>();
  const lineOf = (key: string) =>
    inBatches<string, null>(
      async (texts) => {
        await append(key, texts);
        return texts.map(() => null);
      },
      { rows: mostTogether, statements: 1 },
    );
  return (key, text) => {
    const line = lines.get(key) ?? lineOf(key);
    lines.set(key, line);
    return line(text);
  };
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

/** Removes the entries up to and including `offset`: their turns are committed. */
export function trimTo(redis: RedisClient, key: string, offset: string): Promise<unknown> {
  const [ms = "0", n = "0"] = offset.split("-");
  return redis.xtrim(key, "MINID", `${ms}-${Number(n) + 1}`);
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
