/**
 * Reads the mailboxes of this node's partitions: one blocking XREAD for all of a slot group. On a Cluster each group has a
 * connection and a loop of its own, since a command touches one slot; elsewhere there is one group.
 */
import type { RedisClient } from "../../store/redis/connections.ts";
import { decodeEnvelope } from "./envelope.ts";
import { type Delivery, keepIdsAbove, trimTo } from "./mailbox.ts";
import type { Keys } from "./partition.ts";
import { ReadSize } from "./read-size.ts";
import { mostReplies, replyField } from "./replies.ts";

interface Followed {
  readonly partition: number;
  position: string;
}

type Entries = readonly (readonly [string, readonly string[]])[];
type StreamReply = readonly (readonly [string, Entries])[] | null;

export interface MailboxReaderOptions {
  /** Opens a connection of its own for each slot group: reads block. */
  readonly open: () => RedisClient;
  /** Used to cut a blocking read short. */
  readonly commands: RedisClient;
  readonly keys: Keys;
  readonly node: string;
  /** Entries taken per stream and read, at most. */
  readonly count: number;
  /** False while the lane has enough of this partition to do: its stream is left alone meanwhile. */
  hasRoom(partition: number): boolean;
  deliver(deliveries: readonly Delivery[]): void;
  /** A reply from another node, as it was appended to this node's stream. */
  reply(text: string): void;
}

/** The longest that a read waits, ms. */
const blockMs = 2000;
/** Before a read is tried again, ms: Redis is away, or a slot is on its way to another master. */
const pauseMs = 100;
/** The group whose loop always runs. */
const firstGroup = 0;

export class MailboxReader {
  private readonly groups = new Map<number, GroupReader>();
  private stopped = false;

  constructor(private readonly options: MailboxReaderOptions) {}

  start(): void {
    this.group(firstGroup);
  }

  /** When the group that waits for longest was last read, by `performance.now()`: whether mailboxes are consumed. */
  get lastReadAt(): number {
    const last = Math.min(...Array.from(this.groups.values(), ({ lastReadAt }) => lastReadAt));
    return Number.isFinite(last) ? last : Number.NEGATIVE_INFINITY;
  }

  /** Begins with the entry after `position`. */
  follow(partition: number, position: string): void {
    this.group(this.options.keys.groupOf(partition)).follow(partition, position);
  }

  unfollow(partition: number): void {
    const group = this.options.keys.groupOf(partition);
    const reader = this.groups.get(group);
    if (reader === undefined) return;
    reader.followed.delete(partition);
    if (reader.followed.size > 0 || group === firstGroup) return;
    this.groups.delete(group);
    void reader.stop();
  }

  /** Ends blocking reads early, so that new room is noticed now. */
  wake(): void {
    for (const reader of this.groups.values()) reader.wake();
  }

  /** Redis may have lost streams: what comes into them from now on gets ids above what was read before. */
  async keepPositions(): Promise<void> {
    await Promise.all(Array.from(this.groups.values(), (reader) => reader.keepPositions()));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(Array.from(this.groups.values(), (reader) => reader.stop()));
  }

  private group(group: number): GroupReader {
    const known = this.groups.get(group);
    if (known !== undefined) return known;
    const reader = new GroupReader(this.options, group);
    if (!this.stopped) {
      this.groups.set(group, reader);
      reader.start();
    }
    return reader;
  }
}

class GroupReader {
  readonly followed = new Map<number, Followed>();
  lastReadAt = performance.now();
  // `$` would miss a wake-up that falls between two reads.
  private wakePosition = "0-0";
  private stopped = false;
  private redis: RedisClient | null = null;
  private running: Promise<void> | null = null;
  private readonly size: ReadSize;

  constructor(
    private readonly options: MailboxReaderOptions,
    private readonly group: number,
  ) {
    this.size = new ReadSize(options.count);
  }

  start(): void {
    this.redis = this.options.open();
    this.running = this.loop(this.redis);
  }

  follow(partition: number, position: string): void {
    this.followed.set(partition, { partition, position });
    this.size.reset();
    this.wake();
  }

  wake(): void {
    const { commands, keys, node } = this.options;
    const key = keys.wake(node, this.group);
    commands
      .xadd(key, "MAXLEN", "~", mostReplies, "*", "w", "1")
      .then(() => commands.expire(key, 3600))
      .catch(() => {});
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.wake();
    this.redis?.disconnect();
    await this.running;
  }

  private async loop(redis: RedisClient): Promise<void> {
    const { keys, node } = this.options;
    const wakeKey = keys.wake(node, this.group);
    let failed = false;
    while (!this.stopped) {
      try {
        if (failed) await this.keepPositions();
        failed = false;
        const ready = [...this.followed.values()].filter(({ partition }) => this.options.hasRoom(partition));
        const byKey = new Map(ready.map((followed) => [keys.mailbox(followed.partition), followed]));
        const names = [wakeKey, ...byKey.keys()];
        const positions = [this.wakePosition, ...ready.map((followed) => followed.position)];
        const reply = await this.read(redis, names, positions);
        this.lastReadAt = performance.now();
        if (reply === null || this.stopped) continue;
        const deliveries = reply.flatMap(([name, entries]) => this.take(byKey.get(name), entries));
        if (deliveries.length === 0) continue;
        this.size.note(deliveries.map(({ raw }) => raw.length));
        this.options.deliver(deliveries);
      } catch {
        if (this.stopped) return;
        failed = true;
        await Bun.sleep(pauseMs);
      }
    }
  }

  private async read(redis: RedisClient, names: readonly string[], positions: readonly string[]): Promise<StreamReply> {
    const count = this.size.of(names.length - 1);
    try {
      return await redis.xread("COUNT", count, "BLOCK", blockMs, "STREAMS", ...names, ...positions);
    } catch (error) {
      // The slot is on its way to another master, and some of its streams are there already. Each alone is found.
      if (!(error instanceof Error) || !/\bTRYAGAIN\b/.test(error.message)) throw error;
    }
    const replies = await Promise.all(
      names.map((name, index) => redis.xread("COUNT", count, "STREAMS", name, positions[index] as string)),
    );
    const found = replies.flatMap((reply) => reply ?? []);
    if (found.length === 0) await Bun.sleep(pauseMs);
    return found;
  }

  /** Behind a failure there may be another server, which knows less than the former one had handed out. */
  async keepPositions(): Promise<void> {
    const { commands, keys } = this.options;
    const all = [...this.followed.values()];
    await Promise.all(all.map(({ partition, position }) => keepIdsAbove(commands, keys.mailbox(partition), position)));
    await keepIdsAbove(commands, keys.wake(this.options.node, this.group), this.wakePosition);
  }

  /** Replies of the node's own stream. What is read can go: a reply that comes twice finds no open call. */
  private takeOwn(last: string, entries: Entries): void {
    const { commands, keys, node, reply } = this.options;
    this.wakePosition = last;
    for (const [, [field, text = ""]] of entries) if (field === replyField) reply(text);
    trimTo(commands, keys.wake(node, this.group), last).catch(() => {});
  }

  /** Moves past what was read of one stream; `followed` is undefined for the node's own. */
  private take(followed: Followed | undefined, entries: Entries): Delivery[] {
    const last = entries.at(-1);
    if (last === undefined) return [];
    if (followed === undefined) {
      this.takeOwn(last[0], entries);
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
