/**
 * Mailboxes: one Redis stream per partition.
 *
 * Sending is one XADD. Reading follows the streams of all partitions this node owns with one blocking
 * XREAD, from the offset that PostgreSQL holds; an entry leaves its stream only after the turn it caused
 * is committed. There is no consumer group: the owner is unique by lease and epoch, and the offset moves
 * in the transaction of the turn, which makes redelivery after a crash exact without acknowledgements.
 */
import type { RedisClient } from "../../store/redis.ts";
import { MailboxFull, RuntimeUnavailable } from "../port.ts";
import { decodeEnvelope, type Envelope, encodeEnvelope } from "./envelope.ts";
import type { Keys } from "./partition.ts";

/** How long a look at a mailbox's length stays good, ms. The bound is soft by what arrives meanwhile. */
const lengthTtl = 50;

export interface MailboxWriterOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** Messages a partition may hold before senders are told to come back. */
  readonly limit: number;
  readonly now: () => number;
}

export class MailboxWriter {
  private readonly lengths = new Map<number, { length: number; at: number }>();

  constructor(private readonly options: MailboxWriterOptions) {}

  /**
   * Appends a message; when this resolves it is accepted.
   * @throws MailboxFull over the bound, RuntimeUnavailable when Redis does not answer
   */
  async send(partition: number, envelope: Envelope): Promise<void> {
    const { redis, keys, limit, now } = this.options;
    const key = keys.mailbox(partition);
    const seen = this.lengths.get(partition);
    const at = now();
    if (seen === undefined || at - seen.at > lengthTtl) {
      const entry = { length: seen?.length ?? 0, at };
      this.lengths.set(partition, entry);
      redis.xlen(key).then(
        (length) => {
          entry.length = length;
        },
        () => {},
      );
    }
    if (seen !== undefined && seen.length >= limit) throw new MailboxFull(1);
    try {
      await redis.xadd(key, "*", "m", encodeEnvelope(envelope));
    } catch (error) {
      throw new RuntimeUnavailable(`The message store did not accept the message: ${(error as Error).message}`);
    }
  }
}

/** One mailbox entry as read. `envelope` is null when the entry is damaged beyond reading. */
export interface Delivery {
  readonly partition: number;
  /** Null for a message that was handed over in memory and never stood in a mailbox. */
  readonly id: string | null;
  readonly envelope: Envelope | null;
  readonly raw: string;
}

interface Followed {
  readonly partition: number;
  position: string;
}

export interface MailboxReaderOptions {
  /** A connection of its own: reads block. */
  readonly redis: RedisClient;
  /** Used to cut a blocking read short. */
  readonly commands: RedisClient;
  readonly keys: Keys;
  readonly node: string;
  /** Entries taken per stream and read. */
  readonly count: number;
  /** False while the lane has enough of this partition to do: its stream is left alone meanwhile. */
  hasRoom(partition: number): boolean;
  deliver(deliveries: readonly Delivery[]): void;
}

export class MailboxReader {
  private readonly followed = new Map<number, Followed>();
  private wakePosition = "$";
  private stopped = false;
  private running: Promise<void> | null = null;
  /** When the last read came back, Unix ms: says whether mailboxes are being consumed at all. */
  lastReadAt = 0;

  constructor(private readonly options: MailboxReaderOptions) {}

  start(): void {
    this.lastReadAt = Date.now();
    this.running = this.loop();
  }

  /** Begins with the entry after `position`. */
  follow(partition: number, position: string): void {
    this.followed.set(partition, { partition, position });
    this.wake();
  }

  unfollow(partition: number): void {
    this.followed.delete(partition);
  }

  /** Ends a blocking read early, so that a new partition or new room is noticed now. */
  wake(): void {
    const { commands, keys, node } = this.options;
    const key = keys.nodeStream("wake", node, 0);
    commands
      .xadd(key, "MAXLEN", "~", 16, "*", "w", "1")
      .then(() => commands.expire(key, 3600))
      .catch(() => {});
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.wake();
    this.options.redis.disconnect();
    await this.running;
  }

  private async loop(): Promise<void> {
    const { redis, keys, node, count } = this.options;
    const wakeKey = keys.nodeStream("wake", node, 0);
    // `$` would miss a wake-up that falls between two reads; from here on the position is exact.
    this.wakePosition = "0-0";
    while (!this.stopped) {
      const ready = [...this.followed.values()].filter(({ partition }) => this.options.hasRoom(partition));
      const byKey = new Map(ready.map((followed) => [keys.mailbox(followed.partition), followed]));
      const names = [wakeKey, ...byKey.keys()];
      const positions = [this.wakePosition, ...ready.map((followed) => followed.position)];
      try {
        const reply = await redis.xread("COUNT", count, "BLOCK", 1000, "STREAMS", ...names, ...positions);
        this.lastReadAt = Date.now();
        if (reply === null) continue;
        const deliveries = reply.flatMap(([name, entries]) => this.take(byKey.get(name), entries));
        if (deliveries.length > 0) this.options.deliver(deliveries);
      } catch {
        if (this.stopped) return;
        await Bun.sleep(100);
      }
    }
  }

  /** Moves past what was read of one stream; `followed` is undefined for the stream that only wakes. */
  private take(followed: Followed | undefined, entries: readonly (readonly [string, readonly string[]])[]): Delivery[] {
    const last = entries.at(-1);
    if (last === undefined) return [];
    if (followed === undefined) {
      this.wakePosition = last[0];
      return [];
    }
    // Given up while the read was on its way: the next owner reads these.
    if (this.followed.get(followed.partition) !== followed) return [];
    followed.position = last[0];
    return entries.map(([id, fields]) => toDelivery(followed.partition, id, fields[1] ?? ""));
  }
}

function toDelivery(partition: number, id: string, raw: string): Delivery {
  try {
    return { partition, id, envelope: decodeEnvelope(raw), raw };
  } catch {
    return { partition, id, envelope: null, raw };
  }
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
