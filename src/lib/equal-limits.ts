/**
 * Time limits of one length, with one timer for all. Where thousands of waits a second have the same limit and almost all
 * end long before it, a timer for each costs more than what is waited for.
 */

/** A wait whose time may run out. What it refers to is kept until a while after it is over. */
export interface Limited {
  /** Set here: when its time is over, by `performance.now()`. */
  dueAt: number;
  readonly isOver: boolean;
}

/** Waits that are over are dropped whenever there are so many, or twice as many as were left the last time. */
const sweepFrom = 256;

export class EqualLimits<Wait extends Limited> {
  /** The oldest first. */
  private waits: Wait[] = [];
  private sweepAt = sweepFrom;
  private timer: ReturnType<typeof setTimeout> | null = null;

  /**
   * @param ms of each wait
   * @param late called with a wait whose time is over; it has to be over then
   */
  constructor(
    private readonly ms: number,
    private readonly late: (wait: Wait) => void,
  ) {}

  /** Waits that are remembered, some of them over. */
  get kept(): number {
    return this.waits.length;
  }

  /** The time of a wait begins. */
  add(wait: Wait): void {
    wait.dueAt = performance.now() + this.ms;
    if (this.waits.length >= this.sweepAt) {
      this.waits = this.waits.filter(({ isOver }) => !isOver);
      this.sweepAt = Math.max(sweepFrom, 2 * this.waits.length);
    }
    this.waits.push(wait);
    if (this.timer === null) this.wakeAt(wait.dueAt);
  }

  private wakeAt(at: number): void {
    this.timer = setTimeout(() => this.expire(), Math.max(1, Math.ceil(at - performance.now())));
    this.timer.unref();
  }

  private expire(): void {
    this.timer = null;
    const now = performance.now();
    const due = this.waits.filter(({ isOver, dueAt }) => !isOver && dueAt <= now);
    this.waits = this.waits.filter(({ isOver, dueAt }) => !isOver && dueAt > now);
    const [oldest] = this.waits;
    if (oldest !== undefined) this.wakeAt(oldest.dueAt);
    for (const wait of due) this.late(wait);
  }
}
