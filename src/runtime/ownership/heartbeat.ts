/** Says at intervals that this node lives. On a timer of its own: work for Redis or for the lane does not delay it. */
import { repeatedly } from "../../lib/timers.ts";

export interface HeartbeatOptions {
  readonly beat: () => Promise<void>;
  readonly everyMs: number;
  readonly failed: (error: unknown) => void;
}

export class Heartbeat {
  private end: (() => Promise<void>) | null = null;
  /** When it was last written, on the monotonic clock; ms. */
  private lastAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: HeartbeatOptions) {}

  start(): void {
    const { everyMs, failed } = this.options;
    this.end ??= repeatedly(everyMs, () => this.write(), failed);
  }

  /** Writes it now when the last one is older than two intervals: after this process was frozen. */
  async refresh(): Promise<void> {
    if (performance.now() - this.lastAt > 2 * this.options.everyMs) await this.write();
  }

  /** Resolves when none is on its way any more. */
  async stop(): Promise<void> {
    await this.end?.();
  }

  private async write(): Promise<void> {
    await this.options.beat();
    this.lastAt = performance.now();
  }
}
