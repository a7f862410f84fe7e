/**
 * What is left where it is while a batch is taken. A mailbox whose first message is held back waits as a whole. Messages
 * from memory have no order but that of each actor: those behind one that is held back go before it.
 */
import type { Delivery } from "../../mailbox/mailbox.ts";
import { actorOf, isOrdered, type Line, type Waiting } from "./line.ts";

/** Whether a message is held back. */
export type HoldsBack = (delivery: Delivery, size: number) => boolean;

export class HeldBack {
  private readonly known = new Map<Waiting, boolean>();
  /** Messages that were first in their line, and are so again once the batch is complete. */
  readonly standingAside: (readonly [line: Line, waiting: Waiting])[] = [];
  /** The actors of these. */
  private readonly actors = new Set<string>();

  constructor(private readonly holdsBack: HoldsBack) {}

  /** Whether nothing of a line can be taken. The last message of a line stays in it. */
  waits(line: Line): boolean {
    for (;;) {
      const [head, second] = line.waiting;
      if (head === undefined) return true;
      if (!this.isHeld(head)) return false;
      if (second === undefined || isOrdered(head.delivery)) return true;
      this.actors.add(actorOf(head.delivery));
      this.standingAside.push([line, head]);
      line.waiting.shift();
    }
  }

  private isHeld(one: Waiting): boolean {
    if (this.actors.size > 0 && !isOrdered(one.delivery) && this.actors.has(actorOf(one.delivery))) return true;
    let isHeld = this.known.get(one);
    if (isHeld === undefined) {
      isHeld = this.holdsBack(one.delivery, one.size);
      this.known.set(one, isHeld);
    }
    return isHeld;
  }
}
