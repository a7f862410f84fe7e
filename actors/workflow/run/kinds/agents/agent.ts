/**
 * Agent: one agent's work, judged and refined until it is good enough.
 *
 *   pre-validation ─▶ running ─▶ judging ─┬─ good enough ──▶ handling ─▶ result
 *         │              ▲                ├─ below, iterations left ─▶ running, with what the judges said
 *         └─ below       └────────────────┘ below, none left ─▶ failed, `judge_threshold_not_met`
 *
 * What is not declared is skipped. Every run of the agent, and every judge, is an execution of its own.
 */

import { consensusOf } from "../../../../execution/judging/consensus.ts";
import { trimText } from "../../../../execution/trim.ts";
import type { Json } from "../../../../kernel/json.ts";
import { storableText } from "../../../../kernel/text.ts";
import { mountsOf } from "../../blackboard/mounts.ts";
import { type ChildUpdate, leaveChildren, onChildEnded, onChildStarted, startChild } from "../../children/children.ts";
import { type KindOfState, StateFault, type StateOf, type StateResult } from "../../kind.ts";
import { settle } from "../../settling.ts";
import type { RunTurn } from "../../turn.ts";
import type { AgentEnd, JudgeResult, WorkOf } from "../../work.ts";
import { agentFailure } from "../failure.ts";
import {
  beginHandling,
  type Handled,
  handledByAgent,
  handledByWebhook,
  leaveWebhook,
  settleHandled,
} from "../handling.ts";
import { outputValue, ownScore, refinedInput } from "./agent-result.ts";
import { askJudge, askJudges, judgeResult, type Question, reasoningOf, resultsOf } from "./judging.ts";

type AgentState = StateOf<"Agent">;
type Work = WorkOf<"agent">;

/** Of an event; the whole output is in the state's result. */
const maxEventBytes = 65_536;
const maxFeedbackBytes = 4096;

export const agentKind: KindOfState<"Agent"> = {
  enter(run, state) {
    const agent = run.render(state.agent).trim();
    if (agent === "") throw new StateFault("template_resolved_empty", "The agent's name is empty");
    const intent = state.intent === null ? null : storableText(run.render(state.intent)).trim();
    const input = run.renderValue(state.input);
    run.work({
      of: "agent",
      phase: "pre_validation",
      agent,
      input,
      intent: intent === "" ? null : intent,
      iteration: 0,
      refinements: [],
      pre_validation_score: null,
      children: [],
      ended: null,
      verdicts: [],
      result: null,
    });
    const { pre_execution_validator: validator } = state;
    if (validator === null) {
      iterate(run, state);
      return;
    }
    const question = { ...asked(run, state), output: "", execution_id: null, iteration: 1 };
    change(run, { children: [askJudge(run, "pre_validator", validator, 0, 1, question)] });
  },

  leave(run, reason) {
    const { children, phase } = workOf(run);
    leaveChildren(run, children, reason);
    if (phase === "handling") leaveWebhook(run, stateOf(run).output_handler);
  },

  overdue(run) {
    const { iteration, children, ended, pre_validation_score, result } = workOf(run);
    const late = { status: "failed", error: "state_timeout", timed_out: true } as const;
    if (result !== null) return { ...result, ...late };
    const atWork = children.find(({ role }) => role === "agent");
    if (atWork !== undefined) noteIteration(run, { status: "timed_out", output: null, error: late.error });
    return {
      output: ended?.output == null ? null : outputValue(ended.output),
      iterations: iteration,
      execution_id: ended?.execution_id ?? (atWork?.started ? atWork.id : null),
      ...(pre_validation_score === null ? {} : { pre_validation_score }),
      ...late,
    };
  },

  agentStarted: (run, outcome) => update(run, onChildStarted(run, workOf(run).children, outcome)),
  childEnded: (run, end) => update(run, onChildEnded(workOf(run).children, end)),

  webhookAnswered(run, outcome) {
    if (workOf(run).phase === "handling") handled(run, handledByWebhook(outcome));
  },
};

const workOf = (run: RunTurn): Work => run.workOf("agent");
const stateOf = (run: RunTurn): AgentState => run.stateOf("Agent");

function change(run: RunTurn, members: Partial<Work>): void {
  run.work({ ...workOf(run), ...members });
}

/** What judges are shown beside the output. */
function asked(run: RunTurn, state: AgentState): Omit<Question, "output" | "execution_id"> {
  const { input, intent, iteration } = workOf(run);
  return { input, intent, iteration, mounts: mountsOf(run.state.header.volumes, state.volumes) };
}

function update(run: RunTurn, { children, ended }: ChildUpdate): void {
  change(run, { children });
  if (ended === null) return;
  const { child, end } = ended;
  if (child.role === "pre_validator") preValidated(run, end);
  else if (child.role === "agent") iterated(run, end);
  else if (child.role === "judge") judged(run, child.index, end);
  else handled(run, handledByAgent(end));
}

/** Nothing is started for an input that is no good; without a verdict it is none. */
function preValidated(run: RunTurn, end: AgentEnd): void {
  const state = stateOf(run);
  const score = judgeResult(end, 1)?.score ?? 0;
  change(run, { pre_validation_score: score });
  if (score >= state.judge_threshold) iterate(run, state);
  else {
    const message = `The input of ${run.current.name} scored ${score}, below ${state.judge_threshold}`;
    settle(run, resultOf(run, { status: "failed", error: "pre_validation_failed", message }));
  }
}

/** The next run of the agent. */
function iterate(run: RunTurn, state: AgentState): void {
  const { iteration, agent, input, intent, refinements } = workOf(run);
  const number = iteration + 1;
  run.emit("WorkflowIterationStarted", {
    message: `${run.current.name}: iteration ${number}`,
    state_name: run.current.name,
    iteration_number: number,
    details: { iteration_number: number, started_at: run.at },
  });
  const child = startChild(run, {
    role: "agent",
    index: iteration,
    agent,
    input: refinedInput(input, refinements),
    intent,
    timeout_ms: null,
    isolation: state.isolation === "inherit" ? null : state.isolation,
    temperature: state.temperature,
    mounts: mountsOf(run.state.header.volumes, state.volumes),
  });
  change(run, { phase: "running", iteration: number, children: [child], verdicts: [] });
}

/** The agent is over: what it made is judged, or the state has failed. */
function iterated(run: RunTurn, end: AgentEnd): void {
  const state = stateOf(run);
  change(run, { ended: end });
  noteIteration(run, end);
  if (end.status !== "completed") {
    const late = end.status === "timed_out" ? { timed_out: true } : {};
    settle(run, resultOf(run, { status: "failed", ...agentFailure(run.current.name, end), ...late }));
    return;
  }
  const output = outputValue(end.output ?? "");
  if (state.judges.length === 0) {
    conclude(run, state, output, ownScore(output));
    return;
  }
  const question = { ...asked(run, state), output, execution_id: end.execution_id };
  change(run, {
    phase: "judging",
    children: askJudges(run, state.judges, question),
    verdicts: state.judges.map(() => null),
  });
}

function noteIteration(
  run: RunTurn,
  { status, output, error, cause = null }: Pick<AgentEnd, "status" | "output" | "error" | "cause">,
): void {
  const { iteration } = workOf(run);
  const common = { state_name: run.current.name, iteration_number: iteration };
  if (status === "completed") {
    run.emit("WorkflowIterationCompleted", {
      message: `${run.current.name}: iteration ${iteration} completed`,
      ...common,
      details: {
        iteration_number: iteration,
        output: trimText(output ?? "", maxEventBytes),
        completed_at: run.at,
      },
    });
    return;
  }
  run.emit("WorkflowIterationFailed", {
    message: `${run.current.name}: iteration ${iteration} failed: ${[error ?? status, cause].filter(Boolean).join(": ")}`,
    ...common,
    details: { iteration_number: iteration, error: error ?? status, failed_at: run.at },
  });
}

/** A judge is over; once all are, the weighted mean of their scores decides. */
function judged(run: RunTurn, index: number, end: AgentEnd): void {
  const state = stateOf(run);
  const found = judgeResult(end, state.judges[index]?.weight ?? 1);
  const verdicts = workOf(run).verdicts.map((one, at) => (at === index ? found : one));
  change(run, { verdicts });
  const { children, ended, iteration } = workOf(run);
  if (children.length > 0) return;
  const results = resultsOf(verdicts);
  const score =
    results.length === 0 ? 0 : consensusOf({ strategy: "weighted_average", threshold: 0, n: null }, results).score;
  const output = outputValue(ended?.output ?? "");
  if (score >= state.judge_threshold) conclude(run, state, output, score);
  else if (iteration < state.max_iterations) refine(run, state, score, results);
  else {
    const { name } = run.current;
    const message = `The output of ${name} scored ${score}, below ${state.judge_threshold}, in ${iteration} iterations`;
    settle(run, resultOf(run, { status: "failed", output, score, error: "judge_threshold_not_met", message }));
  }
}

/** Not good enough: the agent is run again, with what its judges said. */
function refine(run: RunTurn, state: AgentState, score: number, results: readonly JudgeResult[]): void {
  const { ended, iteration, refinements } = workOf(run);
  const feedback = results.length === 0 ? "No judge gave a verdict" : reasoningOf(results);
  const refinement = { score, feedback: trimText(feedback, maxFeedbackBytes) };
  change(run, { refinements: [...refinements, refinement] });
  run.emit("RefinementApplied", {
    message: `${run.current.name}: iteration ${iteration} scored ${score}, below ${state.judge_threshold}`,
    state_name: run.current.name,
    iteration_number: iteration + 1,
    details: { iteration_number: iteration + 1, agent_id: ended?.agent_id ?? "", ...refinement, code_diff: null },
  });
  iterate(run, state);
}

/** The output is good enough: its handler, then the result. */
function conclude(run: RunTurn, { output_handler: handler }: AgentState, output: Json, score: number | null): void {
  const result = resultOf(run, { status: "completed", output, ...(score === null ? {} : { score }) });
  if (handler === null) {
    settle(run, result);
    return;
  }
  const { children, handled: failed } = beginHandling(run, handler, output);
  change(run, { phase: "handling", children: [...children], result });
  if (failed !== null) handled(run, failed);
}

const handled = (run: RunTurn, how: Handled): void =>
  settleHandled(run, stateOf(run).output_handler, workOf(run).result, how);

function resultOf(run: RunTurn, members: StateResult): StateResult {
  const { iteration, ended, pre_validation_score } = workOf(run);
  return {
    output: null,
    iterations: iteration,
    execution_id: ended?.execution_id ?? null,
    ...(pre_validation_score === null ? {} : { pre_validation_score }),
    ...members,
  };
}
