/**
 * Records of what may happen very often: equal ones within a minute are one with a count, different ones of one subject
 * are bounded, and what is written grows with neither. Noting one costs no wait; what was noted is written in portions.
 */
import { createHash } from "node:crypto";

const sharedForMs = 60_000;
/** Different ones of one subject in a minute; further ones share a record that says only that. */
const maxPerSubject = 100;
/** Records under way at once; beyond that new ones are only counted by those that exist. */
const maxOpen = 20_000;
const portion = 500;

/** What happened, once or more often, as it is to be written. */
export interface Recurrence<T> {
  readonly id: string;
  readonly item: T;
  /** Unix milliseconds. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** How often it happened since it was last written. */
  readonly count: number;
}

interface Open<T> {
  readonly id: string;
  readonly item: T;
  readonly firstAt: number;
  lastAt: number;
  /** Not written yet. */
  pending: number;
}

export interface RecurringOptions<T> {
  readonly now: () => number;
  readonly newId: (item: T) => string;
  /** Whose it is: a session, an execution. */
  subjectOf(item: T): string;
  /** What makes two of one subject equal, as JSON. */
  kindOf(item: T): unknown;
  /** Stands for those that are too many to be told apart. */
  furtherOf(item: T): T;
  /** The subject of those, where there are too many records of all subjects. */
  beyondOf(item: T): string;
}

export class Recurring<T> {
  readonly #open = new Map<string, Open<T>>();
  readonly #subjects = new Map<string, number>();
  readonly #options: RecurringOptions<T>;

  constructor(options: RecurringOptions<T>) {
    this.#options = options;
  }

  /** Records of the last minute, and those that are not written yet. */
  get size(): number {
    return this.#open.size;
  }

  note(item: T): void {
    const { now, subjectOf, furtherOf, beyondOf } = this.#options;
    const at = now();
    const subject = subjectOf(item);
    if (this.#counted(this.#keyOf(subject, item), at)) return;
    const others = this.#subjects.get(subject) ?? 0;
    if (this.#open.size >= maxOpen) this.#add(beyondOf(item), furtherOf(item), at);
    else if (others >= maxPerSubject) this.#add(subject, furtherOf(item), at);
    else {
      this.#subjects.set(subject, others + 1);
      this.#add(subject, item, at);
    }
  }

  /** Hands on what happened since. What `store` fails to keep is handed on the next time. @throws what it throws */
  async write(store: (changed: readonly Recurrence<T>[]) => Promise<void>): Promise<void> {
    const changed = [...this.#open.values()].filter(({ pending }) => pending > 0);
    for (let from = 0; from < changed.length; from += portion) {
      const some = changed.slice(from, from + portion);
      const told = some.map(({ pending, ...record }) => ({ ...record, count: pending }));
      await store(told);
      some.forEach((record, at) => {
        record.pending -= told[at]?.count ?? 0;
      });
    }
    const { now, subjectOf } = this.#options;
    const at = now();
    for (const [key, { pending, firstAt }] of this.#open) {
      if (pending === 0 && at - firstAt >= sharedForMs) this.#open.delete(key);
    }
    this.#subjects.clear();
    for (const { item } of this.#open.values()) {
      const subject = subjectOf(item);
      this.#subjects.set(subject, (this.#subjects.get(subject) ?? 0) + 1);
    }
  }

  #add(subject: string, item: T, at: number): void {
    const key = this.#keyOf(subject, item);
    if (this.#counted(key, at)) return;
    this.#open.set(key, { id: this.#options.newId(item), item, firstAt: at, lastAt: at, pending: 1 });
  }

  /** Counts it by the record of its minute, or of an earlier one that is still to be written. */
  #counted(key: string, at: number): boolean {
    const known = this.#open.get(key);
    if (known === undefined || (known.pending === 0 && at - known.firstAt >= sharedForMs)) return false;
    known.pending += 1;
    known.lastAt = at;
    return true;
  }

  #keyOf(subject: string, item: T): string {
    return createHash("sha256")
      .update(JSON.stringify([subject, this.#options.kindOf(item)]))
      .digest("base64");
  }
}
