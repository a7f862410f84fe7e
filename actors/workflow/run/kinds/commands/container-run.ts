/**
 * ContainerRun: one container of an image of the author's choice, its standard output through an output handler if
 * there is one. Once the container has ended, its result waits in the work for what the handler gives.
 */

import { commandRun } from "../../activities.ts";
import { type ChildUpdate, leaveChildren, onChildEnded, onChildStarted } from "../../children/children.ts";
import type { KindOfState, StateOf, StateResult } from "../../kind.ts";
import { settle } from "../../settling.ts";
import { containerCommand } from "../../shell/command-text.ts";
import type { RunTurn } from "../../turn.ts";
import { commandId } from "../../usage.ts";
import type { WorkOf } from "../../work.ts";
import {
  beginHandling,
  type Handled,
  handledByAgent,
  handledByWebhook,
  leaveWebhook,
  resultHandled,
} from "../handling.ts";
import { noteEnded, noteFailed, noteStarted, shownName } from "./command-events.ts";
import { containerResult, endOf, withStdout } from "./command-result.ts";
import { overdueCommand } from "./system.ts";

type Work = WorkOf<"command">;

export const containerRunKind: KindOfState<"ContainerRun"> = {
  // The command is killed when its time is up; a handler has a time of its own.
  keepsTime: true,

  enter(run, state) {
    const instance = run.context.newId();
    const command = containerCommand(run, state, instance);
    run.perform(commandRun, command, { id: commandId(instance), then: "command_ended" });
    run.work({ of: "command", activity: commandId(instance), result: null, children: [] });
    noteStarted(run, stepOf(run, state), command.image ?? "");
  },

  leave(run, reason) {
    const { activity, result, children } = workOf(run);
    if (result === null) {
      run.abandon(activity);
      noteFailed(run, stepOf(run, stateOf(run)), reason);
      return;
    }
    leaveChildren(run, children, reason);
    leaveWebhook(run, stateOf(run).output_handler);
  },

  overdue: overdueCommand,

  commandEnded(run, outcome) {
    const state = stateOf(run);
    const end = endOf(outcome);
    const result = containerResult(run.current.name, end);
    noteEnded(run, stepOf(run, state), end);
    // What failed has no output worth handling.
    if (state.output_handler === null || end.status === "failed") return settle(run, result);
    const { children, handled } = beginHandling(run, state.output_handler, end.stdout);
    if (handled !== null) return conclude(run, result, handled);
    run.work({ ...workOf(run), result, children: [...children] });
  },

  agentStarted(run, outcome) {
    hear(run, onChildStarted(run, workOf(run).children, outcome));
  },

  childEnded(run, end) {
    hear(run, onChildEnded(workOf(run).children, end));
  },

  webhookAnswered(run, outcome) {
    const { result } = workOf(run);
    if (result !== null) conclude(run, result as StateResult, handledByWebhook(outcome));
  },
};

function hear(run: RunTurn, { children, ended }: ChildUpdate): void {
  const work = workOf(run);
  run.work({ ...work, children });
  if (ended !== null && work.result !== null) conclude(run, work.result as StateResult, handledByAgent(ended.end));
}

function conclude(run: RunTurn, result: StateResult, handled: Handled): void {
  const { output_handler } = stateOf(run);
  const required = output_handler?.required ?? false;
  settle(
    run,
    resultHandled(result, { required }, handled, (stdout) => withStdout(result, stdout)),
  );
}

/** The container's name as events tell it; it may be worth nothing once rendered. */
function stepOf(run: RunTurn, { name }: StateOf<"ContainerRun">): string {
  return shownName(run, name, run.current.name);
}

const workOf = (run: RunTurn): Work => run.workOf("command");
const stateOf = (run: RunTurn): StateOf<"ContainerRun"> => run.stateOf("ContainerRun");
