/** The slot of work under way, which the work may give back while it waits, and take again. */
import type { ActivitySlot } from "../port.ts";

export interface SlotOwner {
  /** The work's own. */
  readonly signal: AbortSignal;
  giveBack(): void;
  /** Puts the work in line; `takesAgain` is called once it has a slot. */
  ask(takesAgain: () => void): void;
  /** Takes it out of the line. */
  leave(): void;
}

/** The slot of work that was just given one. */
export function heldSlot({ signal, giveBack, ask, leave }: SlotOwner): ActivitySlot {
  let isHeld = true;
  return {
    giveBack: () => {
      if (!isHeld) return;
      isHeld = false;
      giveBack();
    },
    takeAgain: () =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        if (isHeld) return resolve();
        const aborted = () => {
          leave();
          reject(signal.reason);
        };
        signal.addEventListener("abort", aborted, { once: true });
        ask(() => {
          signal.removeEventListener("abort", aborted);
          isHeld = true;
          resolve();
        });
      }),
  };
}
