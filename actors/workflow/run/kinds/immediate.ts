/**
 * Results without outside work: `noop`, `update_blackboard`, and states that could not be entered. The result waits for a
 * message to the run itself, so that each has a turn of its own and stands in the log behind its entry; usually both
 * are one commit, and of many results in a row so many as the runtime puts into one.
 */

import type { StateResult } from "../kind.ts";
import { workflowRunProtocol } from "../messages.ts";
import type { Run } from "../turn.ts";

/** Lets the state at work come to this result in a turn of its own. */
export function immediately(run: Run, result: StateResult): void {
  run.work({ of: "immediate", result });
  run.tell(workflowRunProtocol, run.id, "advance", { entry: run.current.entry }, { coCommit: true });
}
