/**
 * Notices of committed log entries, for followers on other nodes: by pub/sub, one channel per partition, and only where
 * another node subscribes. A follower that subscribes after the look-up reads what was committed before.
 */
import type { RedisClient } from "../../store/redis/connections.ts";
import type { Keys } from "../mailbox/partition.ts";
import type { LogEntry } from "../port.ts";

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

  /** On a Cluster a server knows only the listeners that are connected to it: there every notice is published. */
  private readonly countsNoListeners: boolean;

  constructor(private readonly options: NoticesOptions) {
    this.countsNoListeners = options.keys.slotGroups > 1;
  }

  send(news: readonly TailNews[]): void {
    const unsure = new Map<number, TailNews[]>();
    for (const one of news) {
      const { partition } = one;
      const list = unsure.get(partition);
      const isHeard = this.countsNoListeners || (this.heard.has(partition) && !this.lookUps.has(partition));
      if (isHeard) this.publish(one);
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
