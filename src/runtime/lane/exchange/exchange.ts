/** What the partitions of a batch take of others' messages, and how their own effects follow each other. */
import type { Envelope } from "../../mailbox/envelope.ts";
import type { Delivery } from "../../mailbox/mailbox.ts";
import type { Commit } from "../commit/commit.ts";
import type { AheadRow, TakenEffect } from "../commit/received.ts";
import type { AheadMark } from "./arrivals.ts";
import type { Held } from "./held.ts";
import { arrivalOf } from "./received.ts";

/** Whether a message is not to be run, in any order: it was taken, or is of another incarnation. */
export function isRepeat(held: Held, { id, envelope }: Delivery): boolean {
  if (envelope === null || !isNumbered(id, envelope)) return false;
  const arrival = arrivalOf(held, envelope);
  return arrival === "repeat" || arrival === "foreign";
}

/** What was handed over in memory comes once, but for effects: those may stand in the mailbox as well. */
const isNumbered = (id: string | null, envelope: Envelope) => id !== null || envelope.effect !== undefined;

/** Rows of the inbox that are remembered: more than are read at once, which is before those read earlier are taken. */
const mostRemembered = 2048;

export class Exchange {
  /** Partitions that miss effects. */
  readonly gaps = new Set<number>();
  /** By partition, what it had taken before of the sources that this batch takes messages of. */
  private readonly received = new Map<Held, Map<string, number | undefined>>();
  /** By partition, notes of messages taken before earlier ones that this batch adds and removes, in order. */
  private readonly ahead = new Map<Held, { readonly mark: AheadMark; readonly isAdded: boolean }[]>();
  /** The messages that came to their turn, to wait again where nothing is committed. */
  private readonly left: (readonly [Held, Envelope])[] = [];
  /** By partition, the entries that were taken. */
  private readonly entries = new Map<Held, string[]>();
  /** By partition, the last number before this batch for each partition that it has effects for. */
  private readonly sent = new Map<Held, Map<number, number>>();
  private readonly taken: TakenEffect[] = [];
  private readonly takenInbox: string[] = [];

  /** Marks a message as taken, and says whether it is to be run. */
  take(held: Held, id: string | null, envelope: Envelope): boolean {
    const { inbox } = envelope;
    if (inbox !== undefined) {
      if (held.takenInbox.has(inbox)) return false;
      held.takenInbox.add(inbox);
      const [oldest] = held.takenInbox;
      if (held.takenInbox.size > mostRemembered && oldest !== undefined) held.takenInbox.delete(oldest);
      this.takenInbox.push(inbox);
    }
    return !isNumbered(id, envelope) || this.number(held, envelope);
  }

  private number(held: Held, envelope: Envelope): boolean {
    const { source, sequence, effect } = envelope;
    const { received, arrivals } = held;
    const arrival = arrivalOf(held, envelope);
    if (arrivals.leave(envelope)) this.left.push([held, envelope]);
    if (arrival === "gap") this.gaps.add(held.partition);
    if (arrival === "gap" || arrival === "foreign") return false;
    // Also that of a repeat: its sender may have found it again after the commit that took it.
    if (effect !== undefined) this.taken.push({ partition: Number(source.slice(1)), seq: sequence });
    if (arrival === "repeat") return false;
    const before = this.received.get(held) ?? new Map<string, number | undefined>();
    if (before.size === 0) this.received.set(held, before);
    if (!before.has(source)) before.set(source, held.received.get(source));
    const after = arrivals.followed(envelope);
    const mark = { source, seq: sequence, after };
    if (after > (received.get(source) ?? 0)) {
      arrivals.note(mark);
      this.noted(held, mark, true);
    } else received.set(source, sequence);
    for (const gone of arrivals.join(received, source)) this.noted(held, gone, false);
    return true;
  }

  /** Marks an entry of the mailbox as taken. */
  takeEntry(held: Held, id: string): void {
    held.arrivals.take(id);
    const entries = this.entries.get(held) ?? [];
    if (entries.length === 0) this.entries.set(held, entries);
    entries.push(id);
  }

  /** Entries that this batch took from behind the position of their partition, once it is committed. */
  *takenBehind(): Iterable<readonly [partition: number, ids: readonly string[]]> {
    for (const [{ partition, arrivals }, ids] of this.entries) {
      const behind = ids.filter((id) => arrivals.isBehind(id));
      if (behind.length > 0) yield [partition, behind];
    }
  }

  private noted(held: Held, mark: AheadMark, isAdded: boolean): void {
    const changes = this.ahead.get(held) ?? [];
    if (changes.length === 0) this.ahead.set(held, changes);
    changes.push({ mark, isAdded });
  }

  /** Notes the next effect for a partition. @returns the number of the one that it follows */
  follow(held: Held, target: number, seq: number): number {
    const after = held.sent.get(target) ?? 0;
    const before = this.sent.get(held) ?? new Map<number, number>();
    if (before.size === 0) this.sent.set(held, before);
    if (!before.has(target)) before.set(target, after);
    held.sent.set(target, seq);
    return after;
  }

  /** Puts the partitions back to what they had taken and sent before: nothing was committed. */
  undo(touched: Iterable<Held>): void {
    for (const [{ received }, before] of this.received) {
      for (const [source, sequence] of before) {
        if (sequence === undefined) received.delete(source);
        else received.set(source, sequence);
      }
    }
    this.undoArrivals();
    for (const [{ sent }, before] of this.sent) for (const [target, seq] of before) sent.set(target, seq);
    for (const { takenInbox } of touched) for (const id of this.takenInbox) takenInbox.delete(id);
  }

  private undoArrivals(): void {
    for (const [{ arrivals }, changes] of this.ahead) {
      for (const { mark, isAdded } of changes.toReversed()) {
        if (isAdded) arrivals.forget(mark);
        else arrivals.note(mark);
      }
    }
    for (const [{ arrivals }, envelope] of this.left) arrivals.wait(envelope);
    for (const [{ arrivals }, ids] of this.entries) arrivals.untake(ids);
  }

  rows(): Pick<Commit, "received" | "ahead" | "behind" | "taken" | "takenInbox"> {
    const received = Array.from(this.received, ([held, sources]) =>
      Array.from(sources).flatMap(([source, before]) => {
        const seq = held.received.get(source);
        return seq === undefined || seq === before ? [] : [{ partition: held.partition, source, seq }];
      }),
    );
    const ahead: AheadRow[] = [];
    const behind: AheadRow[] = [];
    for (const [{ partition }, changes] of this.ahead) {
      // One that this batch adds and removes was never stored.
      const added = new Map<string, AheadRow>();
      for (const { mark, isAdded } of changes) {
        const name = `${mark.source} ${mark.seq}`;
        if (isAdded) added.set(name, { partition, ...mark });
        else if (!added.delete(name)) behind.push({ partition, ...mark });
      }
      ahead.push(...added.values());
    }
    return { received: received.flat(), ahead, behind, taken: this.taken, takenInbox: this.takenInbox };
  }
}
