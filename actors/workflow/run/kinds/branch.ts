/**
 * Branch: several lines of states side by side. It is done once so many of them have succeeded as it asks for, or so
 * many have failed that this cannot be any more; the engine then gives the others up. A line sees the blackboard and what
 * its own states write; of all that nothing remains but the Branch's result.
 */
import type { KindOfState, StateResult } from "../kind.ts";
import { lineTo } from "../lines.ts";
import type { RunTurn } from "../turn.ts";
import type { Line } from "../work.ts";

export const branchKind: KindOfState<"Branch"> = {
  enter(run, { branches }) {
    run.work({ of: "branch", lines: branches.map(({ name, initial_state }) => lineTo(name, initial_state)) });
  },

  joins(run) {
    const { join } = run.stateOf("Branch");
    const { lines } = run.workOf("branch");
    const joined = namesOf(lines, "completed");
    const failed = namesOf(lines, "failed");
    if (joined.length >= join) {
      noteJoined(run, joined);
      return { status: "success", ...outcome(lines) };
    }
    if (lines.length - failed.length >= join) return null;
    const message = `${join} of ${lines.length} branches must succeed, and ${failed.length} failed: ${reasonsOf(lines)}`;
    return { status: "failed", error: "join_not_met", message, ...outcome(lines) };
  },

  // Its lines are given up by the engine.
  leave() {},

  overdue: (run): StateResult => ({
    status: "failed",
    error: "state_timeout",
    timed_out: true,
    ...outcome(run.workOf("branch").lines),
  }),
};

/** In the order of the manifest. */
const namesOf = (lines: readonly Line[], status: "completed" | "failed"): string[] =>
  lines.filter(({ end }) => end?.status === status).map(({ name }) => name);

const outcome = (lines: readonly Line[]) => ({
  joined: namesOf(lines, "completed"),
  branches: Object.fromEntries(lines.map(({ name, last }) => [name, last])),
});

const reasonsOf = (lines: readonly Line[]): string =>
  lines.flatMap(({ name, end }) => (end?.status === "failed" ? [`${name}: ${end.error}`] : [])).join("; ");

function noteJoined(run: RunTurn, joined: readonly string[]): void {
  const { lines } = run.workOf("branch");
  const state_name = run.current.name;
  const cancelled = lines.filter(({ end }) => end === null).map(({ name }) => name);
  run.emit("WorkflowBranchJoined", {
    message: `${joined.join(", ")} of ${state_name} succeeded`,
    state_name,
    details: { state_name, joined, cancelled },
  });
}
