/**
 * Subworkflow: another workflow, run below this one. A blocking state waits for its end; with `fire_and_forget` it is
 * done once the other has started.
 */

import { maxDepth } from "../../../execution/start/plan.ts";
import { mayHaveHappened } from "../../../kernel/activity.ts";
import type { Json } from "../../../kernel/json.ts";
import { type RunStart, type RunStarted, runStart } from "../activities.ts";
import { jsonBytes, maxResultBytes } from "../blackboard/size.ts";
import { type KindOfState, StateFault, type StateOf, type StateResult } from "../kind.ts";
import type { RunEnd } from "../messages.ts";
import { workflowRunProtocol } from "../messages.ts";
import { runStartId } from "../relevance.ts";
import { settle } from "../settling.ts";
import type { RunTurn } from "../turn.ts";
import type { WorkOf } from "../work.ts";

type SubworkflowState = StateOf<"Subworkflow">;
type Work = WorkOf<"subworkflow">;

export const subworkflowKind: KindOfState<"Subworkflow"> = {
  enter(run, state) {
    const { header } = run.state;
    const workflow = run.render(state.workflow).trim();
    if (workflow === "") throw new StateFault("template_resolved_empty", "The workflow's name is empty");
    if (header.depth >= maxDepth) {
      throw new StateFault("depth_exceeded", `Workflows nest at most ${maxDepth} deep below their root`);
    }
    const child = run.context.newId();
    const start: RunStart = {
      child_execution_id: child,
      workflow,
      input: run.renderValue(state.input),
      attachments: header.attachments,
      state_name: run.current.name,
      waits: state.mode === "blocking",
    };
    run.perform(runStart, start, { id: runStartId(child), then: "run_started" });
    run.work({ of: "subworkflow", child, workflow, started: false });
  },

  leave(run, reason) {
    // One that is still to start is told once more when it has (`../children/cancel-unwanted.ts`).
    const { child, started } = workOf(run);
    // The start of an item may wait for room without end.
    if (!started && run.itemIndex !== null) run.abandon(runStartId(child));
    run.tell(workflowRunProtocol, child, "cancel", { reason });
  },

  overdue(run, state) {
    noteFailed(run, "state_timeout");
    return conclusion(run, state, {
      status: "failed",
      output: null,
      error: "state_timeout",
      timed_out: true,
      child_execution_id: workOf(run).child,
    });
  },

  runStarted(run, outcome) {
    const state = stateOf(run);
    const { child } = workOf(run);
    if (!outcome.ok) return refused(run, state, outcome);
    noteTriggered(run, state, outcome.value.workflow_id);
    if (state.mode === "blocking") return;
    settle(run, { status: "success", child_execution_id: child, mode: state.mode });
  },

  runEnded(run, end) {
    const state = stateOf(run);
    if (state.mode !== "blocking") return;
    // The news of its start may be the later one.
    noteTriggered(run, state, end.workflow_id);
    const result = resultOf(end);
    if (end.status === "completed") noteCompleted(run, state);
    else noteFailed(run, String(result.error));
    settle(run, conclusion(run, state, result));
  },
};

const workOf = (run: RunTurn): Work => run.workOf("subworkflow");
const stateOf = (run: RunTurn): SubworkflowState => run.stateOf("Subworkflow");

/** It never started: no such workflow, an input it does not take, too deep, … */
function refused(run: RunTurn, state: SubworkflowState, outcome: RunStarted & { ok: false }): void {
  const { child } = workOf(run);
  // A refusal stores nothing; the outcome of a start that got no answer is unknown.
  if (mayHaveHappened(outcome)) run.tell(workflowRunProtocol, child, "cancel", { reason: "parent_ended" });
  noteFailed(run, outcome.code);
  const result = { status: "failed", output: null, error: outcome.code, message: outcome.message };
  settle(run, conclusion(run, state, { ...result, child_execution_id: null }));
}

function resultOf(end: RunEnd): StateResult {
  const { child_execution_id, status, output, iterations, final_state, blackboard, final_output, error, error_code } =
    end;
  const completed = status === "completed";
  return {
    status: completed ? "completed" : "failed",
    output,
    ...(completed ? {} : { error: error_code ?? `workflow_${status}` }),
    ...(completed || error === null ? {} : { message: error }),
    ...(status === "timed_out" ? { timed_out: true } : {}),
    iterations,
    final_state,
    blackboard,
    final_output,
    child_execution_id,
  };
}

/** What a blocking state came to stands at its `result_key` too. @throws StateFault */
function conclusion(run: RunTurn, { result_key }: SubworkflowState, result: StateResult): StateResult {
  if (result_key === null) return result;
  if (jsonBytes(result) > maxResultBytes) {
    throw new StateFault("blackboard_too_large", `The result is larger than ${maxResultBytes} bytes`);
  }
  run.note({ [result_key]: result });
  return result;
}

function noteTriggered(run: RunTurn, { mode }: SubworkflowState, workflowId: string): void {
  const work = workOf(run);
  if (work.started) return;
  run.work({ ...work, started: true });
  run.emit("SubworkflowTriggered", {
    message: `${run.current.name} started ${work.workflow}`,
    ...about(run, {
      child_workflow_id: workflowId,
      mode,
      parent_state_name: run.current.name,
      triggered_at: run.at,
    }),
  });
}

function noteCompleted(run: RunTurn, { result_key }: SubworkflowState): void {
  const { workflow } = workOf(run);
  const details = { result_key, completed_at: run.at };
  run.emit("SubworkflowCompleted", { message: `${workflow} completed`, ...about(run, details) });
}

function noteFailed(run: RunTurn, reason: string): void {
  const { workflow } = workOf(run);
  const details = { reason, failed_at: run.at };
  run.emit("SubworkflowFailed", { message: `${workflow} failed: ${reason}`, ...about(run, details) });
}

function about(run: RunTurn, details: { readonly [member: string]: Json }) {
  const { child } = workOf(run);
  return {
    state_name: run.current.name,
    details: { parent_execution_id: run.id, child_execution_id: child, ...details },
  };
}
