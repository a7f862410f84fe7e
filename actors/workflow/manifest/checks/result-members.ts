/** What results of states hold, as far as it is known before a start. */
import type { State, StateKind } from "../../definition.ts";

/** Of a result that is a failure, of any kind. */
const ofFailures = ["error", "error_code", "message", "timeout", "timed_out"];

/** Also of `noop` and `update_blackboard`. */
const ofCommands = ["status", "exit_code", "stdout", "stderr", "duration_ms", "truncated", "output"];

const ofKinds: { readonly [K in StateKind]?: readonly string[] } = {
  System: [...ofCommands, "updated"],
  ContainerRun: [...ofCommands, "attempts"],
  Wait: ["status", "by", "waited_ms", "payload", "stimulus_id", "timed_out"],
  Map: ["status", "results", "failed", "succeeded", "total"],
  Branch: ["status", "joined", "branches"],
  Tool: ["status", "output", "error", "duration_ms", "approval_id"],
  Fleet: ["status", "fleet_command_id", "summary", "results", "output"],
  Http: ["status", "http_status", "headers", "body", "duration_ms"],
};

/** The names that may stand behind a path into the state's result; null: not known. */
export function membersOfResult(state: State, path: readonly string[]): readonly string[] | null {
  const [first, ...rest] = path;
  if (first === undefined) {
    const own = ofKinds[state.kind];
    return own === undefined ? null : [...new Set([...own, ...ofFailures])];
  }
  return state.kind === "Branch" && first === "branches" && rest.length === 0
    ? state.branches.map(({ name }) => name)
    : null;
}
