/**
 * Fires the timers of the partitions that this node owns. Rows of the near future are kept in memory, by the time at
 * which they are due; the rest is read when its time comes near. A row goes in the commit of the turn that it causes, so
 * what was fired and not committed is read again by the partition's next owner.
 */
import { DueOrder } from "./due-order.ts";
import type { TimerPage } from "./store.ts";
import type { TimerPlace, TimerRow } from "./timer.ts";

/** Timers due within this time are in memory, ms; looked for again when half of it has passed. */
const horizonMs = 60_000;
/** Of one partition at once, at most. */
const usualLimit = 512;
/** After a query that failed, ms. */
const againMs = 1_000;
/** How soon a lane without room is tried again, ms. */
const roomMs = 20;

export interface ClockworkOptions {
  now(): number;
  /** The first rows of each partition that are due before `until`: see `readTimers`. */
  read(partitions: readonly number[], until: number, limit: number): Promise<TimerPage>;
  /** False while the lane has enough to do for the timer's tenant. */
  takes(row: TimerRow): boolean;
  fire(row: TimerRow): void;
  readonly limit?: number;
}

interface Waiting {
  readonly row: TimerRow;
  readonly due: number;
  readonly of: Watched;
}

interface Watched {
  readonly partition: number;
  /** Those in memory, fired ones included until they are committed, by fence. */
  readonly rows: Map<number, Waiting>;
  /** Every row that is due before this is in memory. */
  until: number;
  /** A read is under way: until when, and what was deleted meanwhile. */
  reading: { readonly until: number; readonly gone: Set<number> } | null;
  /** There is more that is due before the horizon than was read: the next are read when half of these have gone. */
  partial: number | null;
}

export class Clockwork {
  private readonly watched = new Map<number, Watched>();
  private readonly order = new DueOrder<Waiting>();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private timerAt = Number.POSITIVE_INFINITY;
  private failedAt = Number.NEGATIVE_INFINITY;
  private stopped = false;
  private readonly limit: number;

  constructor(private readonly options: ClockworkOptions) {
    this.limit = options.limit ?? usualLimit;
  }

  /** Timers in memory. */
  get size(): number {
    return this.order.size;
  }

  /** Begins with partitions that this node owns from now on, or again after a commit that failed. */
  attach(partitions: readonly number[]): void {
    for (const partition of partitions) {
      const until = Number.NEGATIVE_INFINITY;
      this.watched.set(partition, { partition, rows: new Map(), until, reading: null, partial: null });
    }
    this.turn();
  }

  detach(partitions: readonly number[]): void {
    for (const partition of partitions) this.watched.delete(partition);
  }

  /** Takes in what a commit has set and taken away. */
  committed(set: readonly TimerRow[], gone: readonly TimerPlace[]): void {
    if (set.length === 0 && gone.length === 0) return;
    for (const { partition, fence } of gone) {
      const watched = this.watched.get(partition);
      watched?.rows.delete(fence);
      watched?.reading?.gone.add(fence);
    }
    const now = this.options.now();
    let earliest = Number.POSITIVE_INFINITY;
    for (const row of set) {
      const watched = this.watched.get(row.partition);
      if (watched === undefined) continue;
      if (row.due < Math.max(watched.until, watched.reading?.until ?? watched.until)) {
        this.admit(watched, row);
        earliest = Math.min(earliest, row.due);
      } else if (row.due < now + horizonMs / 2 && watched.partial === null) {
        // It is near, and yet beyond what was read: the clock was put forward, so it is time to read again.
        earliest = now;
      }
    }
    if (gone.some(({ partition }) => (this.watched.get(partition)?.partial ?? null) !== null)) earliest = now;
    // A turn that should have come by now was planned before the clock was put forward.
    if (this.timerAt <= now) this.wakeAt(now);
    else if (earliest < this.timerAt) this.wakeAt(earliest);
  }

  stop(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.watched.clear();
  }

  private admit(watched: Watched, row: TimerRow): void {
    if (watched.rows.has(row.fence)) return;
    const waiting = { row, due: row.due, of: watched };
    watched.rows.set(row.fence, waiting);
    this.order.push(waiting);
  }

  /** Fires what is due, reads what comes near, and plans the next turn. */
  private turn(): void {
    if (this.stopped) return;
    const now = this.options.now();
    const held = this.fireDue(now);
    this.readAhead(now);
    const next = this.order.first()?.due ?? Number.POSITIVE_INFINITY;
    for (const waiting of held) this.order.push(waiting);
    this.wakeAt(Math.min(next, held.length > 0 ? now + roomMs : now + horizonMs / 2));
  }

  /** @returns those that are due and that the lane does not take yet */
  private fireDue(now: number): Waiting[] {
    const held: Waiting[] = [];
    for (;;) {
      const first = this.order.first();
      if (first === undefined || first.due > now) return held;
      this.order.shift();
      const { of: watched, row } = first;
      const isWanted = this.watched.get(row.partition) === watched && watched.rows.get(row.fence) === first;
      if (!isWanted) continue;
      if (this.options.takes(row)) this.options.fire(row);
      else held.push(first);
    }
  }

  private readAhead(now: number): void {
    if (now < this.failedAt + againMs && now >= this.failedAt) return;
    const wanted = [...this.watched.values()].filter((one) => this.isShort(one, now));
    if (wanted.length > 0) void this.read(wanted, now + horizonMs);
  }

  private isShort({ until, reading, partial, rows }: Watched, now: number): boolean {
    if (reading !== null) return false;
    return partial === null ? until < now + horizonMs / 2 : rows.size <= partial / 2;
  }

  private async read(wanted: readonly Watched[], until: number): Promise<void> {
    for (const watched of wanted) watched.reading = { until, gone: new Set() };
    let page: TimerPage | null = null;
    try {
      page = await this.options.read(
        wanted.map(({ partition }) => partition),
        until,
        this.limit,
      );
    } catch {
      // The store is away. What is in memory goes on, and the rest is read when it is back.
      this.failedAt = this.options.now();
    }
    const byPartition = page === null ? null : Map.groupBy(page.rows, ({ partition }) => partition);
    for (const watched of wanted) {
      const gone = watched.reading?.gone;
      watched.reading = null;
      if (byPartition === null || this.watched.get(watched.partition) !== watched) continue;
      const found = byPartition.get(watched.partition) ?? [];
      for (const row of found) if (gone?.has(row.fence) !== true) this.admit(watched, row);
      const isPartial = page?.partial.has(watched.partition) === true;
      watched.partial = isPartial ? found.length : null;
      // Others may be due at the very time of the last one.
      watched.until = isPartial ? (found.at(-1) as TimerRow).due : until;
    }
    if (byPartition !== null) this.wakeAt(this.options.now());
    else this.wakeAt(Math.min(this.order.first()?.due ?? Number.POSITIVE_INFINITY, this.failedAt + againMs));
  }

  private wakeAt(at: number): void {
    if (this.stopped) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timerAt = at;
    this.timer = setTimeout(
      () => {
        this.timerAt = Number.POSITIVE_INFINITY;
        this.turn();
      },
      Math.max(0, at - this.options.now()),
    );
    this.timer.unref();
  }
}
