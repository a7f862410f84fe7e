/**
 * Results that need nobody: `noop`, `update_blackboard`, and states that could not be entered. The result waits for a
 * message to the run itself, so that the entry is committed and visible before it.
 */
import type { Run } from "../run.ts";
import type { StateResult } from "./kind.ts";

/** Lets the state at work come to this result in a turn of its own. */
export function immediately(run: Run, result: StateResult): void {
  run.work({ of: "immediate", result });
  run.tell(run.context.kind, run.id, "advance", { entry: run.current.entry });
}
