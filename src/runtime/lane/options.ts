/** What the lane needs of the node around it. */

import type { ReplyTo } from "../../../actors/kernel/message.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Outbox } from "../effects/outbox.ts";
import type { LocalReply } from "../mailbox/calls.ts";
import type { Leases } from "../ownership/lease.ts";
import type { FactWriter, Projection } from "../port.ts";
import type { TailNews } from "../reads/notices.ts";
import type { Clockwork } from "../timers/clockwork.ts";
import type { ActivityRow } from "./commit/activities.ts";
import type { InboxLimits } from "./intake/inbox.ts";
import type { Journal } from "./journal.ts";
import type { Turns } from "./turn.ts";

/** Where fault tests may kill the process. */
export type CrashPoint =
  | "after_append"
  | "before_commit"
  | "after_commit"
  | "after_publish"
  | "at_handover"
  | "in_activity";

export interface LaneOptions {
  readonly node: string;
  readonly sql: Sql;
  readonly journal: Journal;
  readonly leases: Leases;
  readonly outbox: Outbox;
  readonly timers: Pick<Clockwork, "attach" | "detach" | "committed">;
  readonly turns: Turns;
  /** How many the runtime has in all. */
  readonly partitions: number;
  readonly projections: ReadonlyMap<string, Projection>;
  readonly factWriters: ReadonlyMap<string, FactWriter>;
  readonly clock: { now(): number; newId(): string };
  readonly batchSize: number;
  readonly inbox: InboxLimits;
  /** Actors kept in memory, and how long an idle one stays, ms. */
  readonly cachedActors: number;
  readonly actorIdleMs: number;
  /** Null for work that this node cannot do. */
  isHostBound(activity: string, version?: number): boolean | null;
  /** Reading begins after `offset`. */
  follow(partition: number, offset: string): void;
  unfollow(partition: number): void;
  wakeReader(): void;
  trim(partition: number, offset: string): void;
  /** Entries of a mailbox that were taken before earlier ones go. */
  remove(partition: number, ids: readonly string[]): void;
  /** Whether all nodes know of messages that were taken before earlier ones. */
  mayDivide(): boolean;
  keepIdsAbove(partition: number, offset: string): Promise<void>;
  reply(reply: LocalReply): void;
  /** Tells other nodes that these messages are taken; one that does not hear it sends its message again, which changes nothing. */
  acknowledge(senders: readonly ReplyTo[]): void;
  announce(news: readonly TailNews[]): void;
  /** Tails of these partitions may have missed entries: have them look again. */
  refreshTails(partitions: readonly number[]): void;
  /** What the former owner of partitions committed last was perhaps told to no one. */
  interrupted(): void;
  perform(rows: readonly ActivityRow[]): void;
  abandon(ids: readonly string[]): void;
  lost(partitions: readonly number[]): void;
  /** Something that this node does not know lies in its partitions. */
  unknownMet(): void;
  report(what: "commit_failed" | "dead_letter" | "unknown_met", facts: Record<string, unknown>): void;
  crash(point: CrashPoint): void;
}
