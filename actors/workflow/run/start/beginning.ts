/** The first steps of a run that was started or admitted. */
import { maxBlackboardBytes } from "../blackboard/size.ts";
import { fail } from "../ending.ts";
import { goOn } from "../going-on.ts";
import { tooLarge } from "../settling.ts";
import { DEADLINE } from "../state.ts";
import type { RunTurn } from "../turn.ts";

/** Puts a start on record, and sets the run's deadline. */
export function noteStart(run: RunTurn): void {
  const { header, deadline_at } = run.state;
  run.emit("WorkflowExecutionStarted", {
    message: `${header.workflow_name} ${header.workflow_version} began`,
    details: { workflow_id: header.workflow_id, started_at: run.at },
  });
  if (deadline_at !== null) run.schedule(DEADLINE, deadline_at, "deadline", {});
}

/** Enters the first state of a run that was started. */
export function begin(run: RunTurn): void {
  const { blackboard_bytes } = run.state;
  if (blackboard_bytes > maxBlackboardBytes) fail(run, "blackboard_too_large", tooLarge);
  goOn(run);
}
