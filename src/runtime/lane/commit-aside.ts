/**
 * A commit that is written beside the lane. Storing large states takes as long as hundreds of small ones, and what other
 * partitions have to commit need not wait for it: it changes no row of theirs. There is one at a time; messages of its
 * partitions, and other large ones, wait until the lane has done what follows it, between two batches.
 *
 * Where other tenants have work meanwhile, the next one begins only after as long again: large commits then have half of
 * the time, and leave as much of the processors and of their partitions to the others.
 */
import type { Delivery } from "../mailbox/mailbox.ts";
import type { Batch } from "./batch/batch.ts";
import type { HoldsBack } from "./intake/held-back.ts";
import type { Company } from "./intake/inbox.ts";
import { isLarge, isLargeCompany } from "./intake/large.ts";

/** How it ended; `error` is null where it is committed. */
export interface CommitOutcome {
  readonly batch: Batch;
  readonly deliveries: readonly Delivery[];
  readonly error: unknown;
}

interface UnderWay {
  readonly partitions: ReadonlySet<number>;
  readonly tenants: ReadonlySet<string>;
  /** Whether messages of other tenants were taken meanwhile. */
  isShared: boolean;
  /** On the monotonic clock, ms. */
  readonly since: number;
  readonly over: Promise<CommitOutcome>;
}

/** The longest pause between two, ms. */
const longestPauseMs = 1_000;

export class CommitAside {
  private underWay: UnderWay | null = null;
  private outcome: CommitOutcome | null = null;
  private isPausing = false;

  /** @param ended told when a commit has ended, well or not, and when the pause after it is over */
  constructor(private readonly ended: () => void) {}

  /** Whether one is under way, or what follows it is still to be done. */
  get isTaken(): boolean {
    return this.underWay !== null;
  }

  /** Whether it has ended, so that `take` answers at once. */
  get isOver(): boolean {
    return this.outcome !== null;
  }

  /** Whether the one under way, or followed up, changes what is stored of a partition. */
  concerns(partition: number): boolean {
    return this.underWay?.partitions.has(partition) === true;
  }

  /** Whether messages are held back now: it tells when they are so no more. */
  get isHoldingBack(): boolean {
    return !this.isOver && (this.isTaken || this.isPausing);
  }

  /** Since when one is under way, on the monotonic clock, ms; null for none. */
  get since(): number | null {
    return this.underWay?.since ?? null;
  }

  /**
   * Whether the commit of a batch, which is made, is to be written beside the lane. One that changes what waits for a node
   * that knows it is not: what waits of its partitions is looked at meanwhile.
   */
  suits(batch: Batch, deliveries: readonly Delivery[]): boolean {
    if (this.isTaken || !batch.actors.some(({ size }) => isLarge(size))) return false;
    const { rows, taken } = batch.setAside;
    const isChanging = rows.length > 0 || taken.places.length > 0 || taken.activities.length > 0;
    return !isChanging && deliveries.every(({ parked }) => parked === undefined);
  }

  begin(batch: Batch, deliveries: readonly Delivery[], commit: () => Promise<void>): void {
    const written = commit().then(
      () => null,
      (error: unknown) => error ?? new Error("the commit failed"),
    );
    const since = performance.now();
    const over = written.then((error) => {
      this.outcome = { batch, deliveries, error };
      if (this.underWay?.isShared) this.pause(performance.now() - since);
      this.ended();
      return this.outcome;
    });
    const partitions = new Set(Array.from(batch.touched, ({ partition }) => partition));
    this.underWay = { partitions, tenants: tenantsOf(deliveries), isShared: false, since, over };
  }

  /** These messages are taken while it is under way, if one is. */
  goesOn(deliveries: readonly Delivery[]): void {
    if (this.underWay === null || this.underWay.isShared) return;
    const { tenants } = this.underWay;
    this.underWay.isShared = deliveries.some(({ envelope }) => envelope !== null && !tenants.has(envelope.tenant));
  }

  private pause(ms: number): void {
    this.isPausing = true;
    const over = () => {
      this.isPausing = false;
      this.ended();
    };
    setTimeout(over, Math.min(longestPauseMs, ms)).unref();
  }

  /** Waits for the end of the one under way; null for none. What follows it is the caller's to do. */
  async take(): Promise<CommitOutcome | null> {
    const outcome = await this.underWay?.over;
    this.underWay = null;
    this.outcome = null;
    return outcome ?? null;
  }

  /** Whether a message waits for the one under way, or for the end of the pause; null where none does. */
  holdsBack(companyOf: (delivery: Delivery, size: number) => Company | null): HoldsBack | null {
    if (this.underWay === null && !this.isPausing) return null;
    const partitions = this.underWay?.partitions;
    return (delivery, size) =>
      partitions?.has(delivery.partition) === true || isLargeCompany(companyOf(delivery, size));
  }
}

const tenantsOf = (deliveries: readonly Delivery[]): ReadonlySet<string> =>
  new Set(deliveries.flatMap(({ envelope }) => envelope?.tenant ?? []));
