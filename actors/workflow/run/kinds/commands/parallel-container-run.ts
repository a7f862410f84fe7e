/**
 * ParallelContainerRun: several containers at once. With any `completion`, all of them run to their end: what one has
 * begun outside its sandbox is not for another's failure to cut short. Each is killed when its own time is up.
 */

import type { ParallelContainerRunState } from "../../../definition/states.ts";
import { commandRun } from "../../activities.ts";
import { type KindOfState, StateFault, type StateOf, type StateResult } from "../../kind.ts";
import { settle } from "../../settling.ts";
import { stepCommand } from "../../shell/command-text.ts";
import type { RunTurn } from "../../turn.ts";
import { commandId } from "../../usage.ts";
import type { WorkOf } from "../../work.ts";
import { noteEnded, noteFailed, noteStarted, shownName } from "./command-events.ts";
import { endOf, stepResult } from "./command-result.ts";

type Steps = WorkOf<"commands">["steps"];

export const parallelContainerRunKind: KindOfState<"ParallelContainerRun"> = {
  keepsTime: true,

  enter(run, state) {
    const steps = state.steps.map((step, index) => {
      const instance = run.context.newId();
      const command = stepCommand(run, step, state.timeout_ms, instance);
      const name = shownName(run, step.name, `step ${index + 1}`);
      run.perform(commandRun, command, { id: commandId(instance), then: "command_ended" });
      noteStarted(run, name, command.image ?? "");
      return { name, activity: commandId(instance), result: null };
    });
    if (new Set(steps.map(({ name }) => name)).size < steps.length) {
      throw new StateFault("template_value_invalid", "Two steps have the same name once rendered");
    }
    run.work({ of: "commands", steps });
  },

  leave(run, reason) {
    for (const { name, activity } of stepsOf(run).filter(({ result }) => result === null)) {
      run.abandon(activity);
      noteFailed(run, name, reason);
    }
  },

  overdue: (_, { completion }) => ({
    status: "failed",
    overall_success: false,
    completion,
    succeeded: 0,
    failed: 0,
    results: [],
    output: {},
    timed_out: true,
    error: "state_timeout",
  }),

  commandEnded(run, outcome) {
    const state = stateOf(run);
    const end = endOf(outcome, state.steps.length);
    const steps = stepsOf(run).map((step) => {
      if (step.activity !== outcome.id) return step;
      noteEnded(run, step.name, end);
      return { ...step, result: stepResult(run.current.name, step.name, end) };
    });
    run.work({ of: "commands", steps });
    const results = steps.map(({ result }) => result as StateResult | null);
    if (results.every((result) => result !== null)) settle(run, resultOf(state.completion, results));
  },
};

/** All of them together as one result. */
export function resultOf(
  completion: ParallelContainerRunState["completion"],
  results: readonly StateResult[],
): StateResult {
  const succeeded = results.filter(({ status }) => status === "success").length;
  const failed = results.length - succeeded;
  const overall_success = isEnough(completion, succeeded, failed);
  return {
    status: overall_success ? "success" : "failed",
    overall_success,
    completion,
    succeeded,
    failed,
    timed_out: results.some(({ timed_out }) => timed_out === true),
    results,
    output: Object.fromEntries(
      results.map(({ name, exit_code, stdout, stderr, duration_ms }) => [
        String(name),
        { exit_code, stdout, stderr, duration_ms },
      ]),
    ),
    ...(overall_success ? {} : { error: "steps_failed", message: failedSteps(results) }),
  };
}

/** Most of a step's own words; the whole of them is in its result. */
const maxWordsPerStep = 500;

function failedSteps(results: readonly StateResult[]): string {
  const failed = results.filter(({ status }) => status !== "success");
  const words = failed.map(({ name, error }) => String(error ?? `${name} failed`).slice(0, maxWordsPerStep));
  return [`${failed.length} of ${results.length} steps failed`, ...words].join("\n");
}

function isEnough(completion: ParallelContainerRunState["completion"], succeeded: number, failed: number): boolean {
  switch (completion) {
    case "all_succeed":
      return failed === 0;
    case "any_succeed":
      return succeeded > 0;
    case "best_effort":
      return true;
  }
}

function stepsOf(run: RunTurn): Steps {
  const { work } = run.current;
  if (work.of !== "commands") throw new Error(`a ParallelContainerRun state at ${work.of}`);
  return work.steps;
}

const stateOf = (run: RunTurn): StateOf<"ParallelContainerRun"> => run.stateOf("ParallelContainerRun");
