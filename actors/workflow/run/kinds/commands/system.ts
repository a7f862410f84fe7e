/**
 * System: one command in a sandbox of the node's agent runtime. Two exact commands start no process: `noop`, and
 * `update_blackboard`, which writes its rendered `env` to the blackboard; a sole `{{path}}` or `{{json value}}` keeps
 * the value's type.
 */

import { commandRun } from "../../activities.ts";
import { reservedKeys } from "../../blackboard/variables.ts";
import { immediately, type KindOfState, type StateOf, type StateResult } from "../../kind.ts";
import { settle } from "../../settling.ts";
import { systemCommand } from "../../shell/command-text.ts";
import type { RunTurn } from "../../turn.ts";
import { commandId } from "../../usage.ts";
import { endOf, systemResult } from "./command-result.ts";

export const systemKind: KindOfState<"System"> = {
  // The command is killed when its time is up, and says so with all that it has written.
  keepsTime: true,

  enter(run, state) {
    const { command } = state;
    const exact = command.form === "text" ? command.text.trim() : null;
    if (exact === "noop") return immediately(run, withoutProcess(run));
    if (exact === "update_blackboard") return immediately(run, updateBlackboard(run, state));
    const instance = run.context.newId();
    run.perform(commandRun, systemCommand(run, state, instance), { id: commandId(instance), then: "command_ended" });
    run.work({ of: "command", activity: commandId(instance), result: null, children: [] });
  },

  leave(run) {
    const { work } = run.current;
    if (work.of === "command") run.abandon(work.activity);
  },

  overdue: overdueCommand,

  commandEnded(run, outcome) {
    settle(run, systemResult(run.current.name, endOf(outcome)));
  },
};

/** The result of a command that was given up because its state took too long. */
export function overdueCommand(run: RunTurn): StateResult {
  return systemResult(run.current.name, {
    status: "failed",
    exit_code: -1,
    stdout: "",
    stderr: "",
    duration_ms: 0,
    timed_out: true,
    truncated: false,
    attempts: 1,
    error: "timed_out",
    warnings: [],
  });
}

function withoutProcess(run: RunTurn): StateResult {
  return systemResult(run.current.name, {
    status: "success",
    exit_code: 0,
    stdout: "",
    stderr: "",
    duration_ms: 0,
    timed_out: false,
    truncated: false,
    attempts: 1,
    error: null,
    warnings: [],
  });
}

/** Writes all of its keys, or none when one of them is not the author's to write. */
function updateBlackboard(run: RunTurn, { env }: StateOf<"System">): StateResult {
  const { states } = run.state.definition;
  const keys = Object.keys(env);
  const refused = keys.find((key) => reservedKeys.has(key) || Object.hasOwn(states, key));
  if (refused !== undefined) {
    const message = `${refused} is a name of the system's or of a state`;
    return { status: "failed", exit_code: 1, updated: [], error: "reserved_blackboard_key", message };
  }
  run.note(Object.fromEntries(keys.map((key) => [key, run.renderTyped(env[key] ?? "")])));
  return { status: "success", exit_code: 0, updated: keys };
}
