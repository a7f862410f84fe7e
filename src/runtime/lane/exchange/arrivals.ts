/**
 * What of a partition has arrived and is not taken, and what was taken before earlier arrivals.
 *
 * Messages of one actor are taken in order, those of different actors not always: a long line of one actor is set aside,
 * and what stands behind it is taken meanwhile (`../intake/inbox.ts`). Then neither the position in the mailbox nor the last
 * number of a source says what was taken:
 *
 * - The position stays before the first entry that is not taken.
 * - The last number of a source stays below the first of its messages that is not taken. What was taken above it is noted
 *   by its number (rows of `runtime_received_ahead`), with the number of the message that it follows: once that one is
 *   taken as well, the last number moves up to it and the note goes.
 *
 * An effect follows the one that it names. Another message of a mailbox follows the last one of its source below it that
 * was waiting when it was taken: all of these have arrived, since a source sends in the order of its numbers.
 */
import type { Envelope } from "../../mailbox/envelope.ts";
import type { Delivery } from "../../mailbox/mailbox.ts";
import { Ascending } from "./ascending.ts";
import { isTold, type Received } from "./received.ts";

/** A message taken before one that its source sent earlier. */
export interface AheadMark {
  readonly source: string;
  readonly seq: number;
  /** The number that it follows. */
  readonly after: number;
}

const [incomplete, complete] = [0, 1];

export class Arrivals {
  /** Entries of the mailbox from the first on that is not taken, in their order, and whether each is taken. */
  private readonly entries = new Map<string, boolean>();
  /** By source, the messages that wait, each with whether it is complete. */
  private readonly waiting = new Map<string, Ascending>();
  /** By source, the messages that were taken before earlier ones. */
  private readonly ahead = new Map<string, Ascending>();
  /** By source, the last effect that came after all that it follows. */
  private readonly complete = new Map<string, number>();

  constructor(ahead: Iterable<AheadMark> = []) {
    for (const mark of ahead) this.note(mark);
  }

  /** Entries of the mailbox that are remembered. */
  get size(): number {
    return this.entries.size;
  }

  /**
   * A message waits from now on.
   * @param received what was taken of each source
   * @param incarnation of the database: effects of another one are not taken
   */
  arrive({ id, envelope }: Delivery, received: Received, incarnation: string): void {
    if (id !== null && !this.entries.has(id)) this.entries.set(id, false);
    if (envelope === null || (id === null && envelope.effect === undefined) || isTold(envelope.source)) return;
    const { source, sequence, effect } = envelope;
    if (effect !== undefined && effect.incarnation !== incarnation) return;
    const reached = Math.max(received.get(source) ?? 0, this.complete.get(source) ?? 0);
    const isComplete = effect !== undefined && this.hasReached(source, effect.after, reached);
    // One that came before others that it follows is behind a gap, and so is what follows it, until it comes again.
    if (!listIn(this.waiting, source).add(sequence, isComplete ? complete : incomplete)) return;
    if (isComplete && sequence > reached) this.complete.set(source, sequence);
  }

  /** Whether an effect that waits came after all that it follows. */
  isComplete(source: string, sequence: number): boolean {
    return this.waiting.get(source)?.get(sequence) === complete;
  }

  /** A message comes to its turn. @returns what `wait` needs; undefined when it did not wait here */
  leave({ source, sequence }: Envelope): number | undefined {
    return removeIn(this.waiting, source, sequence);
  }

  /** A message that came to its turn waits again: its batch was not committed. */
  wait({ source, sequence }: Envelope, mark: number): void {
    listIn(this.waiting, source).add(sequence, mark);
  }

  /** An entry is taken with the batch under way. One that was not announced arrives now. */
  take(id: string): void {
    this.entries.set(id, true);
  }

  /** The batch was not committed. */
  untake(ids: Iterable<string>): void {
    for (const id of ids) if (this.entries.has(id)) this.entries.set(id, false);
  }

  /** The last entry up to which all are taken. @param before the position so far */
  position(before: string): string {
    let position = before;
    for (const [id, isTaken] of this.entries) {
      if (!isTaken) break;
      position = id;
    }
    return position;
  }

  /** The batch is committed: entries up to the position are forgotten. */
  settle(): void {
    for (const [id, isTaken] of this.entries) {
      if (!isTaken) return;
      this.entries.delete(id);
    }
  }

  /** Whether an entry stands behind the position. */
  isBehind(id: string): boolean {
    return this.entries.has(id);
  }

  /** Whether a message was taken before an earlier one of its source. */
  wasTaken(source: string, sequence: number): boolean {
    return this.ahead.get(source)?.get(sequence) !== undefined;
  }

  /** Whether an effect and all before it that concern this partition are among those up to a number, or were taken. */
  private hasReached(source: string, after: number, reached: number): boolean {
    const ahead = this.ahead.get(source);
    for (let at: number | undefined = after; at !== undefined; at = ahead?.get(at)) if (at <= reached) return true;
    return false;
  }

  /** What a message follows that is about to be taken. */
  followed({ source, sequence, effect }: Envelope): number {
    return effect?.after ?? this.waiting.get(source)?.below(sequence) ?? 0;
  }

  note({ source, seq, after }: AheadMark): void {
    listIn(this.ahead, source).add(seq, after);
  }

  forget({ source, seq }: AheadMark): void {
    removeIn(this.ahead, source, seq);
  }

  /** Moves the last number of a source over what was taken above it. @returns the notes that go */
  join(received: Received, source: string): AheadMark[] {
    const list = this.ahead.get(source);
    const gone: AheadMark[] = [];
    for (let seq = list?.first; list !== undefined && seq !== undefined; seq = list.first) {
      const after = list.get(seq) ?? 0;
      const last = received.get(source) ?? 0;
      if (after > last && seq > last) break;
      if (seq > last) received.set(source, seq);
      removeIn(this.ahead, source, seq);
      gone.push({ source, seq, after });
    }
    return gone;
  }
}

function listIn(lists: Map<string, Ascending>, source: string): Ascending {
  let list = lists.get(source);
  if (list === undefined) {
    list = new Ascending();
    lists.set(source, list);
  }
  return list;
}

function removeIn(lists: Map<string, Ascending>, source: string, number: number): number | undefined {
  const list = lists.get(source);
  const after = list?.remove(number);
  if (list?.size === 0) lists.delete(source);
  return after;
}
