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
import { Entries } from "./entries.ts";
import { isTold, type Received } from "./sources.ts";

/** A message taken before one that its source sent earlier. */
export interface AheadMark {
  readonly source: string;
  readonly seq: number;
  /** The number that it follows. */
  readonly after: number;
}

/** Entries of a mailbox in memory, taken or not, from the first on that is not taken. */
const mostEntries = 65_536;

export class Arrivals {
  /** Entries of the mailbox from the first on that is not committed. */
  private readonly entries = new Entries();
  /** By source, the messages that wait; not effects, which name the one that they follow. */
  private readonly waiting = new Map<string, Ascending>();
  /** By source, the messages that were taken before earlier ones. */
  private readonly ahead = new Map<string, Ascending>();
  /** Effects that came after all that they follow, and by source the last of them. */
  private readonly completeOnes = new WeakSet<Envelope>();
  private readonly complete = new Map<string, number>();
  private overtaking = false;

  constructor(ahead: Iterable<AheadMark> = []) {
    for (const mark of ahead) this.note(mark);
  }

  /** Whether more is remembered of the mailbox than is to be: it is left alone until earlier entries are taken. */
  get isFull(): boolean {
    return this.entries.size >= mostEntries;
  }

  /**
   * A message waits from now on.
   * @param received what was taken of each source
   * @param incarnation of the database: effects of another one are not taken
   */
  arrive({ id, envelope }: Delivery, received: Received, incarnation: string): void {
    if (id !== null) this.entries.add(id);
    if (envelope === null || (id === null && envelope.effect === undefined) || isTold(envelope.source)) return;
    if (envelope.effect === undefined) this.wait(envelope);
    else if (envelope.effect.incarnation === incarnation) this.follow(envelope, envelope.effect.after, received);
  }

  /**
   * Judged by what came before this very copy: one behind a gap stays so, also when the effect that is missing comes after
   * it, and comes once more behind that one.
   */
  private follow(envelope: Envelope, after: number, received: Received): void {
    const { source, sequence } = envelope;
    const reached = Math.max(received.get(source) ?? 0, this.complete.get(source) ?? 0);
    if (!this.hasReached(source, after, reached)) return;
    this.completeOnes.add(envelope);
    if (sequence > reached) this.complete.set(source, sequence);
  }

  /** Whether an effect came after all that it follows. @param envelope as it arrived */
  isComplete(envelope: Envelope): boolean {
    return this.completeOnes.has(envelope);
  }

  /** A message comes to its turn. @returns whether it waited here */
  leave({ source, sequence }: Envelope): boolean {
    const list = this.waiting.get(source);
    const waited = list?.remove(sequence) !== undefined;
    if (list?.size === 0) this.waiting.delete(source);
    return waited;
  }

  /** A message waits, again where it came to its turn and its batch was not committed. */
  wait({ source, sequence }: Envelope): void {
    listIn(this.waiting, source).add(sequence, 0);
  }

  /** An entry is taken with the batch under way. One that was not announced arrives now. */
  take(id: string): void {
    this.entries.take(id);
  }

  /** The batch was not committed. */
  untake(ids: Iterable<string>): void {
    this.entries.untake(ids);
  }

  /** The last entry up to which all are taken. @param before the position so far */
  position(before: string): string {
    return this.entries.position ?? before;
  }

  /** The batch is committed: entries up to the position are forgotten. */
  settle(): void {
    this.entries.settle();
    this.overtaking = this.entries.isOvertaking;
  }

  /** Whether committed entries stand behind the position: the next owner may read them once more. */
  get isOvertaking(): boolean {
    return this.overtaking;
  }

  /** Sources with messages that were taken ahead while none waits any more that they stand behind. */
  get sourcesWithoutWaiting(): readonly string[] {
    return [...this.ahead.keys()].filter((source) => !this.waiting.has(source));
  }

  /** Whether an entry that is taken stands behind the position. */
  isBehind(id: string): boolean {
    return this.entries.isAhead(id);
  }

  /** Whether a message was taken before an earlier one of its source. */
  wasTaken(source: string, sequence: number): boolean {
    return this.ahead.size > 0 && this.ahead.get(source)?.get(sequence) !== undefined;
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
    const list = this.ahead.get(source);
    list?.remove(seq);
    if (list?.size === 0) this.ahead.delete(source);
  }

  /** Moves the last number of a source over what was taken above it. @returns the notes that go */
  join(received: Received, source: string): readonly AheadMark[] {
    const list = this.ahead.size === 0 ? undefined : this.ahead.get(source);
    if (list === undefined) return noMarks;
    const gone: AheadMark[] = [];
    for (let seq = list.first; seq !== undefined; seq = list.first) {
      const after = list.get(seq) ?? 0;
      const last = received.get(source) ?? 0;
      if (after > last && seq > last) break;
      if (seq > last) received.set(source, seq);
      list.remove(seq);
      gone.push({ source, seq, after });
    }
    if (list.size === 0) this.ahead.delete(source);
    return gone;
  }
}

const noMarks: readonly AheadMark[] = [];

function listIn(lists: Map<string, Ascending>, source: string): Ascending {
  let list = lists.get(source);
  if (list === undefined) {
    list = new Ascending();
    lists.set(source, list);
  }
  return list;
}
