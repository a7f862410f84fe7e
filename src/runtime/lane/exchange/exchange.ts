/** What the partitions of a batch take of others' messages, and how their own effects follow each other. */
import type { Envelope } from "../../mailbox/envelope.ts";
import type { Delivery } from "../../mailbox/mailbox.ts";
import type { Commit } from "../commit/commit.ts";
import type { TakenEffect } from "../commit/received.ts";
import type { Held } from "./held.ts";
import { arrivalOf } from "./received.ts";

/** Whether a message is not to be run, in any order: it was taken, or is of another incarnation. */
export function isRepeat(held: Held, { id, envelope }: Delivery): boolean {
  if (envelope === null || !isNumbered(id, envelope)) return false;
  const arrival = arrivalOf(held.received, held.incarnation, envelope);
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
    const arrival = arrivalOf(held.received, held.incarnation, envelope);
    if (arrival === "gap") this.gaps.add(held.partition);
    if (arrival === "gap" || arrival === "foreign") return false;
    // Also that of a repeat: its sender may have found it again after the commit that took it.
    if (effect !== undefined) this.taken.push({ partition: Number(source.slice(1)), seq: sequence });
    if (arrival === "repeat") return false;
    const before = this.received.get(held) ?? new Map<string, number | undefined>();
    if (before.size === 0) this.received.set(held, before);
    if (!before.has(source)) before.set(source, held.received.get(source));
    held.received.set(source, sequence);
    return true;
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
    for (const [{ sent }, before] of this.sent) for (const [target, seq] of before) sent.set(target, seq);
    for (const { takenInbox } of touched) for (const id of this.takenInbox) takenInbox.delete(id);
  }

  rows(): Pick<Commit, "received" | "taken" | "takenInbox"> {
    const received = Array.from(this.received, ([held, sources]) =>
      Array.from(sources.keys(), (source) => ({
        partition: held.partition,
        source,
        seq: held.received.get(source) as number,
      })),
    );
    return { received: received.flat(), taken: this.taken, takenInbox: this.takenInbox };
  }
}
