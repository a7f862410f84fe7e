/**
 * Keeps this node's share of the partitions: announces the node, takes what is free, gives up what is
 * too much, and notices what was taken away.
 */
import { isDatabaseUnavailable } from "../../store/postgres/pool.ts";
import type { RedisClient } from "../../store/redis/connections.ts";
import type { Keys } from "../mailbox/partition.ts";
import { Heartbeat } from "./heartbeat.ts";
import type { Leases } from "./lease.ts";
import { PartitionsResized } from "./partitions.ts";
import { movesOf } from "./shares.ts";

/** What works on the partitions that this node holds. */
export interface PartitionWorker {
  /** By partition. */
  readonly held: ReadonlyMap<number, { readonly epoch: number }>;
  /** Since when it has been in the middle of something, on the monotonic clock, ms; null when it is not. */
  readonly busySince: number | null;
  attach(owned: Awaited<ReturnType<Leases["take"]>>): Promise<void>;
  detach(partitions: readonly number[]): Promise<void>;
  tick(): Promise<void>;
  /** Takes everything anew where the database is not the one that its partitions were taken from. */
  checkIncarnation(incarnation: string): Promise<void>;
}

/** How long a starting node tries to register while the database does not take it, ms, and its pauses in between. */
const joinMs = 30_000;
const [firstPauseMs, longestPauseMs] = [50, 1_000];

export interface OwnershipOptions {
  readonly leases: Leases;
  readonly lane: PartitionWorker;
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly node: string;
  readonly ttlMs: number;
  /**
   * After each look at the table: adopt work of nodes that are gone, and the like.
   * @param isDue false while nothing has changed since this found nothing, but after every fourth look
   * @returns whether nothing was found
   */
  onLook(live: readonly string[], isDue: boolean): Promise<boolean>;
  report(what: "lease_look_failed" | "heartbeat_failed" | "partitions_resized", facts: Record<string, unknown>): void;
  crash(point: "at_handover"): void;
}

/**
 * Between a look and the next that is asked for out of turn, for each node that lives, ms. All nodes look when one joins,
 * leaves or gives something up, so that their looks at once grow with the square of their number.
 */
const gapPerNodeMs = 10;
/** Looks after which work of others is looked for even where nothing has changed. */
const sweepEvery = 4;

export class Ownership {
  /** The next look that was asked for out of turn. */
  private soon: ReturnType<typeof setTimeout> | null = null;
  private lookedAt = Number.NEGATIVE_INFINITY;
  /** Looks since work of others was looked for. */
  private unswept = sweepEvery;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private looking: Promise<void> | null = null;
  private again = false;
  private stopped = false;
  /** When the table was last seen and every partition had a live owner, by `performance.now()`. */
  allOwnedAt = Number.NEGATIVE_INFINITY;
  live: readonly string[] = [];
  /** Whether every live node says what it has taken. */
  acknowledge = false;
  /** Whether every live node knew, at the last look, of messages that were taken before earlier ones. */
  takesAhead = false;
  /** The number of partitions was changed since this node started: it works on none any more. */
  isOutdated = false;

  private readonly heartbeat: Heartbeat;

  constructor(private readonly options: OwnershipOptions) {
    this.heartbeat = new Heartbeat({
      beat: () => options.leases.beat(),
      everyMs: options.ttlMs / 5,
      failed: (error) => options.report("heartbeat_failed", { error: String(error) }),
    });
  }

  async start(): Promise<void> {
    await this.join();
    this.heartbeat.start();
    this.announce();
    await this.look();
    this.plan();
  }

  /** Registers this node. Where many start at once, a connection may be refused or come too late: that is no end. */
  private async join(): Promise<void> {
    const until = performance.now() + joinMs;
    for (let pause = firstPauseMs; ; pause = Math.min(longestPauseMs, pause * 2)) {
      try {
        await this.options.leases.join();
        return;
      } catch (error) {
        if (!isDatabaseUnavailable(error) || performance.now() > until) throw error;
        this.options.report("lease_look_failed", { error: String(error) });
        await Bun.sleep(pause);
      }
    }
  }

  /** Looks now rather than at the next interval: another node joined, left or gave something up. */
  lookNow(): void {
    if (this.stopped) return;
    this.unswept = sweepEvery;
    if (this.looking !== null) this.again = true;
    else this.lookSoon();
  }

  private lookSoon(): void {
    if (this.stopped || this.soon !== null) return;
    const left = this.lookedAt + Math.min(this.options.ttlMs / 5, gapPerNodeMs * this.live.length) - performance.now();
    this.soon = setTimeout(
      () => {
        this.soon = null;
        if (!this.stopped) void this.look();
      },
      Math.max(0, left),
    );
  }

  /** Gives everything up and leaves the table. */
  async stop(): Promise<void> {
    const { lane, leases } = this.options;
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    if (this.soon !== null) clearTimeout(this.soon);
    await this.looking;
    await leases.announceDraining();
    await this.giveUp([...lane.held.keys()]);
  }

  async leave(): Promise<void> {
    await this.heartbeat.stop();
    await this.options.leases.leave();
    this.announce();
  }

  private announce(): void {
    const { redis, keys, node } = this.options;
    redis.publish(keys.leases, node).catch(() => {});
  }

  private plan(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.look().finally(() => this.plan()), this.options.ttlMs / 5);
  }

  private look(): Promise<void> {
    this.looking ??= this.lookOnce()
      .catch(async (error: unknown) => {
        if (error instanceof PartitionsResized) {
          await this.end();
          return;
        }
        // The stores are away: partitions stay as they are, and commits fail until the stores are back.
        this.options.report("lease_look_failed", { error: String(error) });
      })
      .finally(() => {
        this.looking = null;
        this.lookedAt = performance.now();
        if (!this.again) return;
        this.again = false;
        this.lookSoon();
      });
    return this.looking;
  }

  private async lookOnce(): Promise<void> {
    const { leases, lane, node } = this.options;
    await this.heartbeat.refresh();
    const { live, willing, holders, mine, epochs, free, needs, acknowledge, takesAhead, incarnation } =
      await leases.look();
    if (live.join() !== this.live.join()) this.unswept = sweepEvery;
    this.live = live;
    this.acknowledge = acknowledge;
    this.takesAhead = takesAhead;
    await lane.checkIncarnation(incarnation);
    await this.dropLost(epochs);
    const moves = movesOf({ node, willing, partitions: leases.partitions, mine, free, needs });
    const taken = moves.take.length > 0 ? await this.take(moves.take, holders) : 0;
    // A partition that this node owns by the table but does not work on: a take that failed half-way.
    await this.resume(mine);
    if (moves.giveUp.length > 0) await this.giveUp(moves.giveUp);
    // Another node was quicker with some: what it leaves is not to wait for the next interval.
    if (taken < moves.take.length) this.again = true;
    if (free.length === taken) this.allOwnedAt = performance.now();
    await lane.tick();
    this.unswept++;
    if (await this.options.onLook(live, this.unswept >= sweepEvery)) this.unswept = 0;
  }

  /** This node was frozen while the number of partitions was changed, and knows only the former one. */
  private async end(): Promise<void> {
    const { lane, report } = this.options;
    if (this.isOutdated) return;
    this.isOutdated = true;
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    if (this.soon !== null) clearTimeout(this.soon);
    report("partitions_resized", {});
    await this.heartbeat.stop();
    await lane.detach([...lane.held.keys()]);
  }

  /** Also those that a program took this node's epoch of (../versions/waiting-messages.ts): `resume` takes them anew. */
  private async dropLost(epochs: ReadonlyMap<number, number>): Promise<void> {
    const { lane } = this.options;
    const lost = [...lane.held].filter(([partition, { epoch }]) => {
      const now = epochs.get(partition);
      // In the middle of a recovery the lane takes epochs itself.
      return now === undefined || (now > epoch && lane.busySince === null);
    });
    if (lost.length > 0) await lane.detach(lost.map(([partition]) => partition));
  }

  private async take(wanted: readonly number[], holders: readonly string[]): Promise<number> {
    const owned = await this.options.leases.take(wanted, holders);
    await this.options.lane.attach(owned);
    return owned.length;
  }

  private async resume(mine: readonly number[]): Promise<void> {
    const { lane, leases } = this.options;
    // A lane in the middle of a recovery holds nothing for a moment, and takes its partitions again itself.
    if (lane.busySince !== null) return;
    const unattended = mine.filter((partition) => !lane.held.has(partition));
    if (unattended.length > 0) await lane.attach(await leases.retake(unattended));
  }

  private async giveUp(partitions: readonly number[]): Promise<void> {
    const { lane, leases, crash } = this.options;
    await lane.detach(partitions);
    crash("at_handover");
    await leases.release(partitions);
    this.announce();
  }
}
