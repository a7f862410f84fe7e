/** Turns run without a pause; between two of them everything else on the node gets its time, however many there are. */

/** At most so long, and one turn. */
const busyMs = 20;

export class YieldBudget {
  private since = performance.now();

  /** Whether this has gone on for so long that others wait. */
  get isDue(): boolean {
    return performance.now() - this.since > busyMs;
  }

  /** Lets what has arrived meanwhile be answered. */
  async take(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.since = performance.now();
  }
}
