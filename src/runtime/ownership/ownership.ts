/**
 * Keeps this node's share of the partitions: announces the node, takes what is free, gives up what is
 * too much, and notices what was taken away.
 */
import type { RedisClient } from "../../store/redis.ts";
import type { Keys } from "../mailbox/partition.ts";
import { Heartbeat } from "./heartbeat.ts";
import type { Leases } from "./lease.ts";

/** What works on the partitions that this node holds. */
export interface PartitionWorker {
  /** By partition. */
  readonly held: ReadonlyMap<number, unknown>;
  /** Since when it has been in the middle of something, on the monotonic clock, ms; null when it is not. */
  readonly busySince: number | null;
  attach(owned: Awaited<ReturnType<Leases["take"]>>): Promise<void>;
  detach(partitions: readonly number[]): Promise<void>;
  tick(): Promise<void>;
  /** Takes everything anew where the database is not the one that its partitions were taken from. */
  checkIncarnation(incarnation: string): Promise<void>;
}

export interface OwnershipOptions {
  readonly leases: Leases;
  readonly lane: PartitionWorker;
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly node: string;
  readonly ttlMs: number;
  /** After each look at the table: adopt work of nodes that are gone, and the like. */
  onLook(live: readonly string[]): Promise<void>;
  report(what: "lease_look_failed" | "heartbeat_failed", facts: Record<string, unknown>): void;
  crash(point: "at_handover"): void;
}

export class Ownership {
  private timer: ReturnType<typeof setTimeout> | null = null;
  private looking: Promise<void> | null = null;
  private again = false;
  private stopped = false;
  /** When the table was last seen and every partition had a live owner, Unix ms. */
  allOwnedAt = 0;
  live: readonly string[] = [];
  /** Whether every live node says what it has taken. */
  acknowledge = false;

  private readonly heartbeat: Heartbeat;

  constructor(private readonly options: OwnershipOptions) {
    this.heartbeat = new Heartbeat({
      beat: () => options.leases.beat(),
      everyMs: options.ttlMs / 5,
      failed: (error) => options.report("heartbeat_failed", { error: String(error) }),
    });
  }

  async start(): Promise<void> {
    await this.options.leases.join();
    this.heartbeat.start();
    this.announce();
    await this.look();
    this.plan();
  }

  /** Looks now rather than at the next interval: another node joined, left or gave something up. */
  lookNow(): void {
    if (this.stopped) return;
    if (this.looking !== null) this.again = true;
    else void this.look();
  }

  /** Gives everything up and leaves the table. */
  async stop(): Promise<void> {
    const { lane, leases } = this.options;
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
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
      // The stores are away: partitions stay as they are, and commits fail until the stores are back.
      .catch((error: unknown) => this.options.report("lease_look_failed", { error: String(error) }))
      .finally(() => {
        this.looking = null;
        if (!this.again || this.stopped) return;
        this.again = false;
        void this.look();
      });
    return this.looking;
  }

  private async lookOnce(): Promise<void> {
    const { leases, lane, node } = this.options;
    await this.heartbeat.refresh();
    const { live, willing, owners, acknowledge, incarnation } = await leases.look();
    this.live = live;
    this.acknowledge = acknowledge;
    await lane.checkIncarnation(incarnation);
    const alive = new Set(live);
    const mine: number[] = [];
    const free: number[] = [];
    for (const [partition, owner] of owners) {
      if (owner === node) mine.push(partition);
      else if (owner === null || !alive.has(owner)) free.push(partition);
    }
    await this.dropLost(owners);
    const share = leases.share(willing);
    const taken = mine.length < share ? await this.take(free.slice(0, share - mine.length), live) : 0;
    // A partition that this node owns by the table but does not work on: a take that failed half-way.
    await this.resume(mine);
    if (mine.length > share && willing.length > 1) await this.giveUp(mine.slice(share));
    if (free.length === taken) this.allOwnedAt = Date.now();
    await lane.tick();
    await this.options.onLook(live);
  }

  private async dropLost(owners: ReadonlyMap<number, string | null>): Promise<void> {
    const { lane, node } = this.options;
    const lost = [...lane.held.keys()].filter((partition) => owners.get(partition) !== node);
    if (lost.length > 0) await lane.detach(lost);
  }

  private async take(wanted: readonly number[], live: readonly string[]): Promise<number> {
    const owned = await this.options.leases.take(wanted, live);
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
