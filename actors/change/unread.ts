/**
 * What one follower has not been sent: of each record the newest alone. A follower that is so slow that more would wait
 * than there is room for gets a gap in place of it all.
 */

/** A change as it is sent. Numbers grow over all records of a tenant. */
export interface NumberedChange {
  readonly number: number;
  /** Of one record, always the same. */
  readonly record: string;
  /** One line. */
  readonly text: string;
}

/** Why changes may be missing: the follower is too slow, it comes back too late, or the service lost some. */
export type GapReason = "slow" | "expired" | "lost";

export interface Gap {
  readonly number: number;
  readonly gap: GapReason;
}

export class Unread {
  readonly #changes = new Map<string, NumberedChange>();
  #gap: Gap | null = null;

  /** @param most records that may wait */
  constructor(private readonly most: number) {}

  /** @param change with a number above all that were put before */
  put(change: NumberedChange): void {
    this.#changes.delete(change.record);
    if (this.#changes.size < this.most) {
      this.#changes.set(change.record, change);
      return;
    }
    this.#changes.clear();
    this.#gap = { number: change.number, gap: "slow" };
  }

  /** Says that changes up to a number may be missing. */
  miss(gap: Gap): void {
    this.#gap = gap;
  }

  get isEmpty(): boolean {
    return this.#changes.size === 0 && this.#gap === null;
  }

  /** All of it, in the order in which it is sent; nothing is unread afterwards. */
  take(): readonly (NumberedChange | Gap)[] {
    const gap = this.#gap;
    const changes = [...this.#changes.values()];
    this.#changes.clear();
    this.#gap = null;
    if (gap === null) return changes;
    const before = changes.filter(({ number }) => number <= gap.number);
    return [...before, gap, ...changes.slice(before.length)];
  }
}
