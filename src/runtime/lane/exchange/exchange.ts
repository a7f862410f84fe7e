/** What the partitions of a batch take of others' messages, and how their own effects follow each other. */
import type { Envelope } from "../../mailbox/envelope.ts";
import type { Delivery } from "../../mailbox/mailbox.ts";
import type { Commit } from "../commit/commit.ts";
import type { AheadRow, ReceivedRow, TakenEffect } from "../commit/received.ts";
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

/** What one partition takes with a batch. */
interface Share {
  readonly held: Held;
  /** What it had taken before of the sources that this batch takes messages of. */
  readonly received: Map<string, number | undefined>;
  /** Notes of messages taken before earlier ones that this batch adds and removes, in order. */
  readonly ahead: { readonly mark: AheadMark; readonly isAdded: boolean }[];
  /** The messages that came to their turn, to wait again where nothing is committed. */
  readonly left: Envelope[];
  /** The entries that were taken. */
  readonly entries: string[];
}

export class Exchange {
  /** Partitions that miss effects. */
  readonly gaps = new Set<number>();
  private readonly shares = new Map<Held, Share>();
  /** By partition, the last number before this batch for each partition that it has effects for. */
  private readonly sent = new Map<Held, Map<number, number>>();
  private readonly taken: TakenEffect[] = [];
  private readonly takenInbox: string[] = [];

  private shareOf(held: Held): Share {
    let share = this.shares.get(held);
    if (share === undefined) {
      share = { held, received: new Map(), ahead: [], left: [], entries: [] };
      this.shares.set(held, share);
    }
    return share;
  }

  /**
   * Marks an entry of the mailbox and its message as taken, and says whether that is to be run.
   * @param id null for a message that came from memory
   * @param envelope null for an entry that cannot be read
   */
  take(held: Held, id: string | null, envelope: Envelope | null): boolean {
    if (id !== null) {
      held.arrivals.take(id);
      this.shareOf(held).entries.push(id);
    }
    if (envelope === null) return true;
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
    const share = this.shareOf(held);
    const arrival = arrivalOf(held, envelope);
    if (arrivals.leave(envelope)) share.left.push(envelope);
    if (arrival === "gap") this.gaps.add(held.partition);
    if (arrival === "gap" || arrival === "foreign") return false;
    // Also that of a repeat: its sender may have found it again after the commit that took it.
    if (effect !== undefined) this.taken.push({ partition: Number(source.slice(1)), seq: sequence });
    if (arrival === "repeat") return false;
    const last = received.get(source);
    if (!share.received.has(source)) share.received.set(source, last);
    const after = arrivals.followed(envelope);
    if (after > (last ?? 0)) {
      const mark = { source, seq: sequence, after };
      arrivals.note(mark);
      share.ahead.push({ mark, isAdded: true });
    } else received.set(source, sequence);
    for (const mark of arrivals.join(received, source)) share.ahead.push({ mark, isAdded: false });
    return true;
  }

  /** Entries that this batch took from behind the position of their partition, once it is committed. */
  *takenBehind(): Iterable<readonly [partition: number, ids: readonly string[]]> {
    for (const { held, entries } of this.shares.values()) {
      if (!held.arrivals.isOvertaking) continue;
      const behind = entries.filter((id) => held.arrivals.isBehind(id));
      if (behind.length > 0) yield [held.partition, behind];
    }
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
    for (const { held, received, ahead, left, entries } of this.shares.values()) {
      for (const [source, sequence] of received) {
        if (sequence === undefined) held.received.delete(source);
        else held.received.set(source, sequence);
      }
      for (const { mark, isAdded } of ahead.toReversed()) {
        if (isAdded) held.arrivals.forget(mark);
        else held.arrivals.note(mark);
      }
      for (const envelope of left) held.arrivals.wait(envelope);
      held.arrivals.untake(entries);
    }
    for (const [{ sent }, before] of this.sent) for (const [target, seq] of before) sent.set(target, seq);
    for (const { takenInbox } of touched) for (const id of this.takenInbox) takenInbox.delete(id);
  }

  rows(): Pick<Commit, "received" | "ahead" | "behind" | "taken" | "takenInbox"> {
    const received: ReceivedRow[] = [];
    const ahead: AheadRow[] = [];
    const behind: AheadRow[] = [];
    for (const share of this.shares.values()) {
      const { partition } = share.held;
      for (const [source, before] of share.received) {
        const seq = share.held.received.get(source);
        if (seq !== undefined && seq !== before) received.push({ partition, source, seq });
      }
      // One that this batch adds and removes was never stored.
      const added = new Map<string, AheadRow>();
      for (const { mark, isAdded } of share.ahead) {
        const name = `${mark.source} ${mark.seq}`;
        if (isAdded) added.set(name, { partition, ...mark });
        else if (!added.delete(name)) behind.push({ partition, ...mark });
      }
      ahead.push(...added.values());
    }
    return { received, ahead, behind, taken: this.taken, takenInbox: this.takenInbox };
  }
}
