/**
 * Notices of committed log entries, for followers on other nodes: by pub/sub, one channel per partition, and only where
 * another node subscribes. A single server is asked how many do; a follower that subscribes after that reads what was
 * committed before. On a Cluster followers are written down (followed.ts).
 */
import type { RedisClient } from "../../store/redis/connections.ts";
import type { Keys } from "../mailbox/partition.ts";
import type { LogEntry } from "../port.ts";
import type { FollowedPartitions } from "./followed.ts";

/** The log that live tails follow. */
export const tailedLog = "events";

/** New log entries of one actor, for live tails. */
export interface TailNews {
  readonly partition: number;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly entries: LogEntry[];
  ended: boolean;
}

export type Notice =
  | readonly [
      node: string,
      kind: string,
      key: string,
      ended: 0 | 1,
      entries: readonly (readonly [number, number, LogEntry["entry"]])[],
    ]
  /** The partition has a new owner: the last notices of the former one may never have been sent. */
  | readonly [node: string];

/** What a notice begins with, where it holds no escapes; entries are large, and most notices are about other actors. */
const beginning = /^\["([^"\\]*)","([^"\\]*)","([^"\\]*)",/;

/**
 * The notice, read whole only when it is of interest.
 * @param isOf interest in the actor that a notice of this node is about
 * @returns null for one that is not
 */
export function readNotice(text: string, isOf: (node: string, kind: string, key: string) => boolean): Notice | null {
  const [, node, kind, key] = beginning.exec(text) ?? [];
  if (node !== undefined && kind !== undefined && key !== undefined && !isOf(node, kind, key)) return null;
  return JSON.parse(text) as Notice;
}

export interface NoticesOptions {
  readonly commands: RedisClient;
  readonly keys: Keys;
  readonly node: string;
}

export class Notices {
  /** Partitions whose last notice reached a subscriber. */
  private readonly heard = new Set<number>();
  /** Look-ups under way of a channel's subscribers: later news of these partitions must not overtake earlier ones. */
  private readonly lookUps = new Map<number, number>();
  /** Partitions with news that were not published, since Redis was away. */
  private readonly untold = new Set<number>();
  /** On a Cluster: news that wait for a look at who follows, in order; null while none is under way. */
  private waiting: TailNews[] | null = null;

  /** @param followed on a Cluster; null: the server knows its listeners */
  constructor(
    private readonly options: NoticesOptions,
    private readonly followed: FollowedPartitions | null,
  ) {}

  send(news: readonly TailNews[]): void {
    if (this.followed !== null) {
      this.sendWhereFollowed(this.followed, news);
      return;
    }
    const unsure = new Map<number, TailNews[]>();
    for (const one of news) {
      const { partition } = one;
      const list = unsure.get(partition);
      if (this.heard.has(partition) && !this.lookUps.has(partition)) this.publish(one);
      else if (list === undefined) unsure.set(partition, [one]);
      else list.push(one);
    }
    if (unsure.size > 0) void this.sendWhereHeard(unsure);
  }

  /** Has every follower in these partitions look whether it missed something. */
  sendTakeover(partitions: readonly number[]): void {
    const { commands, keys, node } = this.options;
    for (const partition of partitions) {
      commands
        .publish(keys.tail(partition), JSON.stringify([node] satisfies Notice))
        .catch(() => this.untold.add(partition));
    }
  }

  /** Partitions whose followers elsewhere may have missed something, once. */
  takeUntold(): readonly number[] {
    const partitions = [...this.untold];
    this.untold.clear();
    return partitions;
  }

  private sendWhereFollowed(followed: FollowedPartitions, news: readonly TailNews[]): void {
    if (news.length === 0) return;
    if (this.waiting !== null) {
      this.waiting.push(...news);
      return;
    }
    const known = followed.known();
    if (known !== null) {
      this.publishTo(known, news);
      return;
    }
    this.waiting = [...news];
    void followed.look().then(
      (partitions) => this.publishTo(partitions, this.takeWaiting()),
      // Channels may be reachable where the list of followers is not.
      () => this.publishTo(null, this.takeWaiting()),
    );
  }

  private takeWaiting(): readonly TailNews[] {
    const waiting = this.waiting ?? [];
    this.waiting = null;
    return waiting;
  }

  /** @param partitions null: all */
  private publishTo(partitions: ReadonlySet<number> | null, news: readonly TailNews[]): void {
    for (const one of news) if (partitions?.has(one.partition) !== false) this.publish(one);
  }

  private async sendWhereHeard(news: ReadonlyMap<number, readonly TailNews[]>): Promise<void> {
    const { commands, keys } = this.options;
    for (const partition of news.keys()) this.lookUps.set(partition, (this.lookUps.get(partition) ?? 0) + 1);
    try {
      // Channels and numbers of subscribers in turn, in the order asked for.
      const counts = await commands.pubsub("NUMSUB", ...Array.from(news.keys(), (partition) => keys.tail(partition)));
      let place = 1;
      for (const list of news.values()) {
        if (Number(counts[place]) > 0) for (const one of list) this.publish(one);
        place += 2;
      }
    } catch {
      for (const partition of news.keys()) this.untold.add(partition);
    } finally {
      for (const partition of news.keys()) {
        const left = (this.lookUps.get(partition) ?? 1) - 1;
        if (left > 0) this.lookUps.set(partition, left);
        else this.lookUps.delete(partition);
      }
    }
  }

  private publish({ partition, kind, key, entries, ended }: TailNews): void {
    const { commands, keys, node } = this.options;
    const list = entries.map(({ seq, at, entry }) => [seq, at, entry] as const);
    const notice: Notice = [node, kind, key, ended ? 1 : 0, list];
    commands.publish(keys.tail(partition), JSON.stringify(notice)).then(
      (listeners) => (listeners > 0 ? this.heard.add(partition) : this.heard.delete(partition)),
      () => this.untold.add(partition),
    );
  }
}
