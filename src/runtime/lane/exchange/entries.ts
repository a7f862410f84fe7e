/**
 * Entries of a mailbox in their order, from the first on that is not committed, and which of them are taken. Nearly all
 * are taken in their order: then this is a list with two places in it.
 */
import { compareStreamIds } from "../../mailbox/mailbox.ts";

/** Committed entries that stay in the list until they are removed together. */
const mostGone = 256;

export class Entries {
  private readonly ids: string[] = [];
  /** All before this place are committed. */
  private head = 0;
  /** All before this place are taken; the one that stands there is not. */
  private next = 0;
  /** Those taken behind it. */
  private readonly ahead = new Set<string>();
  /** Whether all came in the order of their ids. */
  private isSorted = true;

  get size(): number {
    return this.ids.length - this.head;
  }

  /** An entry that is not known stands behind all others. */
  add(id: string): void {
    const last = this.size > 0 ? this.ids[this.ids.length - 1] : undefined;
    const isNext = last === undefined || isBehind(id, last);
    if (last === undefined) this.isSorted = true;
    if (!(isNext && this.isSorted) && this.placeOf(id) >= 0) return;
    this.isSorted &&= isNext;
    this.ids.push(id);
  }

  /** One that was not added is added now. */
  take(id: string): void {
    if (this.ids[this.next] !== id) {
      const place = this.placeOf(id);
      if (place >= 0 && place < this.next) return;
      if (place < 0) this.add(id);
      if (this.ids[this.next] !== id) {
        this.ahead.add(id);
        return;
      }
    }
    this.next++;
    this.proceed();
  }

  /** @returns -1 for one that is not here */
  private placeOf(id: string): number {
    if (!this.isSorted) return this.ids.indexOf(id, this.head);
    let low = this.head;
    let high = this.ids.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBehind(id, this.ids[middle] as string)) low = middle + 1;
      else high = middle;
    }
    return this.ids[low] === id ? low : -1;
  }

  private proceed(): void {
    while (this.ahead.size > 0 && this.ahead.delete(this.ids[this.next] as string)) this.next++;
  }

  /** Their batch was not committed: these are not taken. */
  untake(ids: Iterable<string>): void {
    for (const id of this.ids.slice(this.head, this.next)) this.ahead.add(id);
    for (const id of ids) this.ahead.delete(id);
    this.next = this.head;
    this.proceed();
  }

  /** The last entry up to which all are taken; undefined where it is committed already. */
  get position(): string | undefined {
    return this.next > this.head ? this.ids[this.next - 1] : undefined;
  }

  /** What is taken is committed: entries up to the position are forgotten. */
  settle(): void {
    this.head = this.next;
    if (this.head < this.ids.length && this.head < mostGone) return;
    this.ids.splice(0, this.head);
    this.head = this.next = 0;
  }

  /** Whether entries are taken behind one that is not. */
  get isOvertaking(): boolean {
    return this.ahead.size > 0;
  }

  /** Whether an entry is taken behind one that is not. */
  isAhead(id: string): boolean {
    return this.ahead.has(id);
  }
}

/** Whether one id comes after another. Those of one length with their dash at one place compare as texts. */
function isBehind(id: string, other: string): boolean {
  if (id.length === other.length && id.indexOf("-") === other.indexOf("-")) return id > other;
  return compareStreamIds(id, other) > 0;
}
