/** The beginning of what is on record of a run's blackboard. */
import { givenTo, type Start } from "../blackboard/seed.ts";
import type { RunTurn } from "../turn.ts";
import { workflowWrites } from "./writes.ts";

/** Puts on record what a fork cannot know otherwise: what the blackboard began with beside the system's keys. */
export function noteSeed(run: RunTurn, start: Pick<Start, "definition" | "overrides" | "resume">): void {
  const values = givenTo(start);
  if (Object.keys(values).length > 0 && run.state.header.batch === undefined) {
    run.append(workflowWrites, { entry: 0, values });
  }
}
