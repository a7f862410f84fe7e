/**
 * Which partitions are followed by other nodes, on a Redis Cluster: its servers each know only the listeners that are
 * connected to them, so that none can be asked, and a notice that is published goes to all of them. So followers write
 * themselves into a sorted set, `partition/node` with the time at which the entry ends, and owners look at it at most
 * five times a second, and only when they have something to publish.
 *
 * An owner may not know of a new follower for as long as a look holds, so one that has just been written reads once
 * more after that. An entry that Redis lost is written again by the next renewal, which then asks for the same.
 */
import type { RedisClient } from "../../store/redis/connections.ts";

/** How long an owner goes by a look, ms. */
const looksHoldMs = 200;
/** After this an owner surely knows of an entry, ms. */
const knownAfterMs = 2 * looksHoldMs;
const renewEveryMs = 5_000;
const livesMs = 20_000;

export interface FollowedOptions {
  readonly commands: RedisClient;
  /** Of the sorted set. */
  readonly key: string;
  readonly node: string;
  /** Unix ms, the same on all nodes. */
  readonly now: () => number;
  /** Entries of these partitions may have been committed unheard by this node's followers. */
  readonly missed: (partitions: readonly number[]) => void;
}

export class FollowedPartitions {
  /** Followed on this node. */
  private readonly own = new Set<number>();
  private readonly timers = new Set<ReturnType<typeof setTimeout>>();
  private renewal: ReturnType<typeof setInterval> | null = null;
  private renewedAt = performance.now();
  private lookedAt = Number.NEGATIVE_INFINITY;
  private elsewhere: ReadonlySet<number> = new Set();

  constructor(private readonly options: FollowedOptions) {}

  /** This node follows the partition. Resolves once that is written, or cannot be; then what is committed can be read. */
  async follow(partition: number): Promise<void> {
    this.own.add(partition);
    this.renewal ??= setInterval(() => void this.renew(), renewEveryMs);
    await this.write([partition]).catch(() => {});
    this.readAgain([partition]);
  }

  unfollow(partition: number): void {
    const { commands, key, node } = this.options;
    this.own.delete(partition);
    commands.zrem(key, `${partition}/${node}`).catch(() => {});
    if (this.own.size === 0) this.rest();
  }

  /** What another node follows; null when a look is due. */
  known(): ReadonlySet<number> | null {
    return performance.now() - this.lookedAt <= looksHoldMs ? this.elsewhere : null;
  }

  /** Looks now. @throws when Redis does not answer */
  async look(): Promise<ReadonlySet<number>> {
    const { commands, key, node, now } = this.options;
    // Entries written while this is under way may be missing: it holds from its beginning.
    const at = performance.now();
    const members = await commands.zrangebyscore(key, now(), "+inf");
    const partitions = new Set<number>();
    for (const member of members) {
      const slash = member.indexOf("/");
      if (member.slice(slash + 1) !== node) partitions.add(Number(member.slice(0, slash)));
    }
    this.elsewhere = partitions;
    this.lookedAt = at;
    return partitions;
  }

  close(): void {
    const { commands, key, node } = this.options;
    if (this.own.size > 0) {
      commands.zrem(key, ...Array.from(this.own, (partition) => `${partition}/${node}`)).catch(() => {});
    }
    this.own.clear();
    this.rest();
  }

  private rest(): void {
    if (this.renewal !== null) clearInterval(this.renewal);
    this.renewal = null;
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }

  private async renew(): Promise<void> {
    const partitions = [...this.own];
    // Frozen, or without Redis, for longer than the entries live: owners took them for gone.
    const mayHaveEnded = performance.now() - this.renewedAt > livesMs - renewEveryMs;
    try {
      const lost = await this.write(partitions);
      this.renewedAt = performance.now();
      if (lost > 0 || mayHaveEnded) this.readAgain(partitions);
    } catch {
      // The next renewal tries again.
    }
  }

  /** @returns how many were not there */
  private async write(partitions: readonly number[]): Promise<number> {
    const { commands, key, node, now } = this.options;
    const at = now();
    const entries = partitions.flatMap((partition) => [at + livesMs, `${partition}/${node}`]);
    const added = await commands.zadd(key, ...entries);
    // What nodes left behind that were killed.
    commands.zremrangebyscore(key, "-inf", at - livesMs).catch(() => {});
    return Number(added);
  }

  private readAgain(partitions: readonly number[]): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.options.missed(partitions.filter((partition) => this.own.has(partition)));
    }, knownAfterMs);
    this.timers.add(timer);
  }
}
