/**
 * Effects of committed batches on their way out. A lane does not wait for Redis longer than for one attempt: what it did
 * not take is tried again beside, and stays in the outbox until it is out.
 */
import type { OutboxRow } from "../../effects/outbox.ts";
import { retryUntil } from "../../timeout.ts";
import type { LaneOptions } from "../options.ts";
import type { Held } from "./held.ts";

/** Between attempts at what is left, ms. */
const againMs = 250;

export class Publishing {
  /** Resolves when an attempt was made at everything that was published so far. */
  done: Promise<void> = Promise.resolve();
  /** Effects that are not out, in order: replies to other nodes. There are no more than callers that wait for one. */
  private left: readonly OutboxRow[] = [];
  private trying: Promise<void> | null = null;

  constructor(
    private readonly options: Pick<LaneOptions, "outbox" | "crash">,
    private readonly held: ReadonlyMap<number, Held>,
    private readonly isGivenUp: () => boolean,
  ) {}

  /**
   * Carries out a batch's effects while the next batch is worked on; resolves when an attempt was made at those of the
   * batch before, so that effects keep their order and never pile up.
   */
  async publish(batch: { readonly touched: ReadonlySet<Held>; readonly outbox: readonly OutboxRow[] }): Promise<void> {
    const marks = [...batch.touched].map((held) => [held, held.outboxSequence] as const);
    const incarnation = marks[0]?.[0].incarnation ?? "";
    await this.done;
    const attempted = retryUntil(async () => {
      this.keep(await this.options.outbox.publish(batch.outbox, incarnation));
    }, this.isGivenUp);
    this.done = attempted.then((out) => {
      if (!out) return;
      for (const [held, sequence] of marks) held.attempted = sequence;
      for (const [held] of marks) this.mark(held);
      this.options.crash("after_publish");
    });
  }

  /** What a former owner left, before its partitions are worked on. @throws as `publish` of the outbox */
  async takeOver(rows: readonly OutboxRow[], incarnation: string): Promise<void> {
    this.keep(await this.options.outbox.publish(rows, incarnation));
  }

  /** These partitions are taken, perhaps again: what is left of them is found in the outbox. */
  forget(partitions: ReadonlySet<number>): void {
    this.left = this.left.filter(({ partition }) => !partitions.has(partition));
  }

  /** Moves the mark up to which effects of a partition are out. */
  mark(held: Held): void {
    const first = this.left.find(({ partition }) => partition === held.partition);
    held.published = Math.max(held.published, first === undefined ? held.attempted : first.seq - 1);
  }

  private keep(rows: readonly OutboxRow[]): void {
    if (rows.length === 0) return;
    this.left = [...this.left, ...rows];
    this.trying ??= this.tryAgain().finally(() => {
      this.trying = null;
    });
  }

  private async tryAgain(): Promise<void> {
    while (this.left.length > 0 && !this.isGivenUp()) {
      await Bun.sleep(againMs);
      const tried = this.left;
      // None of them is a message, so nothing follows from the incarnation.
      const again = new Set(await this.options.outbox.publish(tried, "").catch(() => tried));
      const out = new Set(tried.filter((row) => !again.has(row)));
      if (out.size === 0) continue;
      this.left = this.left.filter((row) => !out.has(row));
      for (const partition of new Set(Array.from(out, (row) => row.partition))) {
        const held = this.held.get(partition);
        if (held !== undefined) this.mark(held);
      }
    }
  }
}
