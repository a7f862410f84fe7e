/** Steps of a state's work that may meet what its kind cannot cope with. */

import { leaveWork } from "./entering.ts";
import { faultOf } from "./kind.ts";
import { settle } from "./settling.ts";
import type { RunTurn } from "./turn.ts";

/** Takes a step of the state at work. A fault is the state's result; nothing else of the step stays then. */
export function guarded(run: RunTurn, step: () => void): void {
  try {
    run.attempt(step);
  } catch (error) {
    const result = faultOf(error);
    if (result === null) throw error;
    leaveWork(run, "state_failed");
    settle(run, result);
  }
}
