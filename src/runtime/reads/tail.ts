/**
 * Live tails: followers of an actor's `events` log on this node.
 *
 * News of committed entries travel by pub/sub, one channel per partition. They are hints: a follower
 * takes an entry only when it is exactly the next one, and reads PostgreSQL whenever something may be missing,
 * so a lost, late or repeated notice can neither lose nor repeat an entry.
 */

import type { Redis } from "ioredis";
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { RedisClient } from "../../store/redis/connections.ts";
import { type Keys, partitionOf } from "../mailbox/partition.ts";
import type { Address, LogEntry, TailListener } from "../port.ts";
import { FollowedPartitions } from "./followed.ts";
import { readLogPage } from "./log-pages.ts";
import { Notices, readNotice, type TailNews, tailedLog } from "./notices.ts";

/** Entries read at once for one follower. */
const pageSize = 500;
/** Followers checked with one query when a whole partition may have news. */
const refreshSize = 1000;

interface Follower {
  readonly kind: string;
  readonly key: string;
  next: number;
  /** Reading stored entries; live ones wait for that. */
  reading: boolean;
  /** Something arrived meanwhile: read once more. */
  stale: boolean;
  /** The actor was erased while stored entries were being read: what to deliver after them. */
  last: readonly LogEntry[] | null;
  closed: boolean;
  readonly listener: TailListener;
}

export interface TailsOptions {
  readonly sql: Sql;
  /** A connection of its own: it is in subscriber mode. */
  readonly subscriber: Redis;
  readonly commands: RedisClient;
  readonly keys: Keys;
  readonly node: string;
  readonly partitions: number;
  /** Unix ms, the same on all nodes. */
  readonly now: () => number;
}

export class Tails {
  private readonly followers = new Map<string, Set<Follower>>();
  private readonly perPartition = new Map<number, number>();
  private readonly channels = new Map<string, number>();
  /** Settles once a partition's channel is being heard. */
  private readonly subscribed = new Map<number, Promise<unknown>>();
  private readonly notices: Notices;
  /** On a Cluster; null where the server knows its listeners. */
  private readonly followed: FollowedPartitions | null;
  private closed = false;

  constructor(private readonly options: TailsOptions) {
    const { commands, keys, node, now } = options;
    const missed = (partitions: readonly number[]) => this.refresh(partitions);
    this.followed =
      keys.slotGroups > 1 ? new FollowedPartitions({ commands, key: keys.followers, node, now, missed }) : null;
    this.notices = new Notices(options, this.followed);
    options.subscriber.on("message", (channel: string, text: string) => this.hear(channel, text));
    options.subscriber.on("ready", () => void this.catchUp());
    options.commands.on("ready", () => {
      const partitions = this.notices.takeUntold();
      if (partitions.length > 0) this.announceTakeover(partitions);
    });
  }

  /** Reads from PostgreSQL what was published while the subscriber's connection was away. */
  private async catchUp(): Promise<void> {
    const channels = [...this.channels.keys()];
    if (channels.length === 0) return;
    // Once this is answered, everything published from now on is heard.
    const heard = await this.options.subscriber.subscribe(...channels).catch(() => null);
    if (heard !== null) this.refresh([...this.perPartition.keys()]);
  }

  /** Follows a log from entry `after` on. @returns a function that ends it */
  follow({ kind, key }: Address, after: number, listener: TailListener): () => void {
    const name = `${kind}/${key}`;
    const partition = partitionOf(kind, key, this.options.partitions);
    const follower: Follower = {
      kind,
      key,
      next: after + 1,
      reading: false,
      stale: false,
      last: null,
      closed: false,
      listener,
    };
    const group = this.followers.get(name);
    if (group === undefined) this.followers.set(name, new Set([follower]));
    else group.add(follower);
    void this.join(partition).then(() => this.read(follower));
    return () => this.leave(follower);
  }

  /** Spreads what this node committed: to its own followers directly, to other nodes by pub/sub. */
  announce(news: readonly TailNews[]): void {
    for (const { kind, key, entries, ended } of news) this.offer(`${kind}/${key}`, entries, ended);
    this.notices.send(news);
  }

  /** Says, here and elsewhere, that entries of these partitions may have been committed unheard. */
  announceTakeover(partitions: readonly number[]): void {
    this.notices.sendTakeover(partitions);
    this.refresh(partitions);
  }

  get size(): number {
    let count = 0;
    for (const group of this.followers.values()) count += group.size;
    return count;
  }

  /** Ends every follower: nothing is delivered any more. */
  close(): void {
    this.closed = true;
    for (const group of this.followers.values()) for (const follower of group) follower.closed = true;
    this.followers.clear();
    this.followed?.close();
  }

  private async join(partition: number): Promise<void> {
    const count = this.perPartition.get(partition) ?? 0;
    this.perPartition.set(partition, count + 1);
    if (count === 0) {
      const channel = this.options.keys.tail(partition);
      this.channels.set(channel, partition);
      this.subscribed.set(
        partition,
        this.options.subscriber
          .subscribe(channel)
          .catch(() => {})
          // Not before it is heard: owners publish from then on.
          .then(() => this.followed?.follow(partition)),
      );
    }
    await this.subscribed.get(partition);
  }

  private part(partition: number): void {
    const count = (this.perPartition.get(partition) ?? 1) - 1;
    if (count > 0) {
      this.perPartition.set(partition, count);
      return;
    }
    this.perPartition.delete(partition);
    this.subscribed.delete(partition);
    const channel = this.options.keys.tail(partition);
    this.channels.delete(channel);
    this.options.subscriber.unsubscribe(channel).catch(() => {});
    this.followed?.unfollow(partition);
  }

  private hear(channel: string, text: string): void {
    const partition = this.channels.get(channel);
    if (partition === undefined) return;
    const isFollowed = (node: string, kind: string, key: string) =>
      node !== this.options.node && this.followers.has(`${kind}/${key}`);
    const notice = readNotice(text, isFollowed);
    if (notice === null || notice[0] === this.options.node) return;
    if (notice.length === 1) {
      this.refresh([partition]);
      return;
    }
    const [, kind, key, ended, entries] = notice;
    const name = `${kind}/${key}`;
    if (!this.followers.has(name)) return;
    this.offer(
      name,
      entries.map(([seq, at, entry]) => ({ seq, at, entry })),
      ended === 1,
    );
  }

  private offer(name: string, entries: readonly LogEntry[], ended: boolean): void {
    const group = this.followers.get(name);
    if (group === undefined) return;
    for (const follower of [...group]) {
      if (follower.reading) {
        if (ended) follower.last = entries;
        else follower.stale = true;
        continue;
      }
      const fresh = entries.filter((entry) => entry.seq >= follower.next);
      const [first] = fresh;
      // An ended actor has nothing left in PostgreSQL: what the notice holds is all there will ever be.
      if (first !== undefined && first.seq > follower.next && !ended) void this.read(follower);
      else if (fresh.length > 0 || ended) this.deliver(follower, fresh, ended);
    }
  }

  private deliver(follower: Follower, entries: readonly LogEntry[], ended: boolean): void {
    const last = entries.at(-1);
    if (last !== undefined) follower.next = last.seq + 1;
    if (ended) this.leave(follower);
    follower.listener(entries, ended);
  }

  private leave(follower: Follower): void {
    if (follower.closed) return;
    follower.closed = true;
    const name = `${follower.kind}/${follower.key}`;
    const rest = this.followers.get(name);
    rest?.delete(follower);
    if (rest?.size === 0) this.followers.delete(name);
    this.part(partitionOf(follower.kind, follower.key, this.options.partitions));
  }

  /** Catches a follower up with what is stored. */
  private async read(follower: Follower): Promise<void> {
    if (follower.closed) return;
    if (follower.reading) {
      follower.stale = true;
      return;
    }
    follower.reading = true;
    try {
      for (;;) {
        follower.stale = false;
        const { kind, key } = follower;
        const { entries, isLast } = await readLogPage(this.options.sql, { kind, key }, tailedLog, {
          after: follower.next - 1,
          rows: pageSize,
          owner: `${kind}/${key}`,
        });
        if (follower.closed) return;
        if (entries.length > 0) this.deliver(follower, entries, false);
        if (follower.closed) return;
        const { last } = follower;
        if (last !== null) {
          this.deliver(
            follower,
            last.filter((entry) => entry.seq >= follower.next),
            true,
          );
          return;
        }
        if (isLast && !follower.stale) return;
      }
    } catch {
      // The database is away. Try again until it is back or the follower has gone.
      if (!follower.closed) setTimeout(() => void this.read(follower), 500);
    } finally {
      follower.reading = false;
    }
  }

  /** Has every follower in these partitions look whether it missed something. */
  private refresh(partitions: readonly number[]): void {
    if (this.followers.size === 0 || partitions.length === 0) return;
    const concerned = new Set(partitions);
    const all: Follower[] = [];
    for (const group of this.followers.values()) {
      for (const follower of group) {
        if (concerned.has(partitionOf(follower.kind, follower.key, this.options.partitions))) all.push(follower);
      }
    }
    for (let start = 0; start < all.length; start += refreshSize)
      void this.check(all.slice(start, start + refreshSize));
  }

  private async check(followers: readonly Follower[]): Promise<void> {
    try {
      const rows = await this.options.sql<{ kind: string; key: string; last: string }[]>`
        select a.kind, a.key, coalesce(max(l.seq), 0)::text as last
        from (select distinct * from unnest(${texts(followers.map((one) => one.kind))}::text[], ${texts(followers.map((one) => one.key))}::text[]) as d (kind, key)) u
        join runtime_actors a on a.kind = u.kind and a.key = u.key
        left join runtime_logs l on l.kind = u.kind and l.key = u.key and l.log = ${tailedLog}
        group by a.kind, a.key`;
      const lasts = new Map(rows.map((row) => [`${row.kind}/${row.key}`, Number(row.last)]));
      for (const follower of followers) {
        const last = lasts.get(`${follower.kind}/${follower.key}`);
        // It had entries and is not there any more: it was erased, and the notice of that was lost.
        const erased = last === undefined && follower.next > 1;
        if (follower.reading) {
          if (erased) follower.last ??= [];
          else follower.stale = true;
        } else if (erased && !follower.closed) this.deliver(follower, [], true);
        else if ((last ?? 0) >= follower.next) void this.read(follower);
      }
    } catch {
      if (!this.closed) setTimeout(() => void this.check(followers.filter((one) => !one.closed)), 500);
    }
  }
}
