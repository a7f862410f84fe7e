/** Effects of committed batches on their way out. */
import type { OutboxRow } from "../../effects/outbox.ts";
import { retryUntil } from "../../timeout.ts";
import type { LaneOptions } from "../options.ts";
import type { Held } from "./held.ts";

export class Publishing {
  /** Resolves when everything that was published so far is out, or given up. */
  done: Promise<void> = Promise.resolve();

  constructor(
    private readonly options: Pick<LaneOptions, "outbox" | "crash">,
    private readonly isGivenUp: () => boolean,
  ) {}

  /**
   * Carries out a batch's effects while the next batch is worked on; resolves when those of the batch
   * before are out, so that effects keep their order and never pile up.
   */
  async publish(batch: { readonly touched: ReadonlySet<Held>; readonly outbox: readonly OutboxRow[] }): Promise<void> {
    const marks = [...batch.touched].map((held) => [held, held.outboxSequence] as const);
    const incarnation = marks[0]?.[0].incarnation ?? "";
    await this.done;
    const carriedOut = retryUntil(() => this.options.outbox.publish(batch.outbox, incarnation), this.isGivenUp);
    this.done = carriedOut.then((out) => {
      if (!out) return;
      for (const [held, sequence] of marks) held.published = sequence;
      this.options.crash("after_publish");
    });
  }
}
