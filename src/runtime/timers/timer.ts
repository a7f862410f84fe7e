/**
 * A timer of an actor: a row that becomes a message when it is due. The commit of the turn that sets it writes the row;
 * the commit of the turn that cancels it, or that it causes, deletes it. docs/decisions/timers-are-rows.md.
 */
import { addressFault } from "../mailbox/envelope.ts";
import type { TimerRequest, TimerRow } from "../mailbox/timer-row.ts";

export type { TimerRequest, TimerRow } from "../mailbox/timer-row.ts";

/** What finds a timer's row. */
export type TimerPlace = Pick<TimerRow, "partition" | "due" | "fence" | "key">;

/** The timers of an actor that are waiting, by name: when each is due, and its fence. Stored with the actor. */
export type WaitingTimers = Record<string, readonly [due: number, fence: number]>;

interface Owner {
  readonly partition: number;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  timers: WaitingTimers;
}

/** The latest moment a `Date` can hold. */
const latest = 8.64e15;

/** The timers that one commit sets and takes away. A row that it would write and delete is neither. */
export class TimerChanges {
  private readonly byFence = new Map<string, TimerRow>();
  readonly gone: TimerPlace[] = [];

  get set(): readonly TimerRow[] {
    return [...this.byFence.values()];
  }

  /**
   * Sets a timer, unless one of its name is waiting. One that is overdue is not: whether its row is still there, or went
   * with a turn that failed, the new one takes its place.
   * @param nextFence called when one is needed
   * @throws TypeError for what cannot be stored
   */
  schedule(actor: Owner, { timer, at, type, body }: TimerRequest, now: number, nextFence: () => number): void {
    const fault = addressFault(timer, type);
    if (fault !== null) throw new TypeError(fault);
    if (Number.isNaN(at)) throw new TypeError("a timer is due at no time");
    const waiting = waitingOf(actor, timer);
    if (waiting !== undefined && waiting[0] > now) return;
    if (waiting !== undefined) this.cancel(actor, timer);
    const { partition, kind, key, tenant } = actor;
    const due = Math.ceil(Math.min(latest, Math.max(0, at)));
    const fence = nextFence();
    actor.timers[timer] = [due, fence];
    this.byFence.set(`${partition}.${fence}`, { partition, due, fence, kind, key, tenant, timer, type, body });
  }

  cancel(actor: Owner, timer: string): void {
    const waiting = waitingOf(actor, timer);
    if (waiting === undefined) return;
    delete actor.timers[timer];
    const [due, fence] = waiting;
    this.remove({ partition: actor.partition, due, fence, key: actor.key });
  }

  cancelAll(actor: Owner): void {
    for (const timer of Object.keys(actor.timers)) this.cancel(actor, timer);
  }

  /**
   * A timer has come to its turn: its row goes, also where the turn fails.
   * @returns whether the actor still waits for it
   */
  fired(actor: Owner | undefined, row: TimerRow): boolean {
    this.remove(row);
    if (actor === undefined || waitingOf(actor, row.timer)?.[1] !== row.fence) return false;
    delete actor.timers[row.timer];
    return true;
  }

  private remove({ partition, due, fence, key }: TimerPlace): void {
    if (!this.byFence.delete(`${partition}.${fence}`)) this.gone.push({ partition, due, fence, key });
  }
}

function waitingOf(actor: Owner, timer: string): WaitingTimers[string] | undefined {
  return Object.hasOwn(actor.timers, timer) ? actor.timers[timer] : undefined;
}

/** The stored form; null: none. */
export function encodeTimers(timers: WaitingTimers): string | null {
  for (const _ in timers) return JSON.stringify(timers);
  return null;
}

export function decodeTimers(stored: string | null): WaitingTimers {
  return stored === null ? {} : (JSON.parse(stored) as WaitingTimers);
}
