/** Outcomes of activities on their way to their actors; an activity's row goes when its actor takes the outcome in. */
import type { Outcome } from "../../../actors/kernel/activity.ts";
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Address } from "../port.ts";
import { retryUntil } from "../timeout.ts";
import type { Work } from "./fair-queue.ts";

interface ActivityResult {
  readonly work: Work;
  readonly outcome: Outcome;
  readonly sentAt: number;
}

/** An outcome that was not taken in for this long is sent once more, ms. */
const sendAgainMs = 10_000;

export interface ActivityResultsOptions {
  readonly now: () => number;
  /** Delivers an outcome to the actor; resolves when it is accepted. @param atHand it may be handed over in memory */
  sendOutcome(to: Address, type: string, outcome: Outcome, atHand: boolean): Promise<void>;
}

export class ActivityResults {
  private readonly sent = new Map<string, ActivityResult>();

  constructor(
    private readonly options: ActivityResultsOptions,
    private readonly isGivenUp: () => boolean,
  ) {}

  has(id: string): boolean {
    return this.sent.has(id);
  }

  ids(): Iterable<string> {
    return this.sent.keys();
  }

  delete(id: string): void {
    this.sent.delete(id);
  }

  /**
   * Does what was to be done once outcomes are taken in.
   * @param ids work that is this node's no longer: it is over, or another node has taken it
   */
  async conclude(sql: Sql, ids: readonly string[]): Promise<void> {
    const awaited = ids.filter((id) => (this.sent.get(id)?.work.onceTaken.length ?? 0) > 0);
    if (awaited.length === 0) return;
    const rows = await sql<{ id: string }[]>`
      select id from runtime_activities where id = any(${texts(awaited)}::text[])`;
    const others = new Set(rows.map(({ id }) => id));
    for (const id of awaited) if (!others.has(id)) for (const act of this.sent.get(id)?.work.onceTaken ?? []) act();
  }

  /** Says whether it was accepted. @param atHand see `ActivityOptions` */
  send(work: Work, outcome: Outcome, atHand = false): Promise<boolean> {
    this.sent.set(work.id, { work, outcome, sentAt: this.options.now() });
    return retryUntil(() => this.options.sendOutcome(work.actor, work.replyType, outcome, atHand), this.isGivenUp);
  }

  /** Redis may have lost what the mailboxes took. */
  sendAllAgain(): void {
    for (const { work, outcome } of [...this.sent.values()]) void this.send(work, outcome);
  }

  /**
   * The mailbox took the outcome but the actor has not: a Redis that was killed in the middle of a flush
   * may have forgotten it. Sent once more; the second of two finds the row gone and changes nothing.
   */
  sendAgain(id: string): void {
    const result = this.sent.get(id);
    if (result === undefined || this.options.now() - result.sentAt < sendAgainMs) return;
    void this.send(result.work, result.outcome);
  }
}
