/**
 * ParallelAgents: several agents at once, and one finding over what they made.
 *
 *   running (all agents) ─▶ judging, if judges are declared ─▶ consensus ─▶ handling ─▶ result
 *
 * Without judges the agents' own outputs are read as verdicts. An agent that fails is recorded; the state fails only
 * when all do, or when verdicts run short.
 */
import { mountsOf } from "../../blackboard/mounts.ts";
import { maxResultBytes } from "../../blackboard/size.ts";
import { type ChildUpdate, leaveChildren, onChildEnded, onChildStarted, startChild } from "../../children/children.ts";
import { type KindOfState, StateFault, type StateOf } from "../../kind.ts";
import { settle } from "../../settling.ts";
import type { RunTurn } from "../../turn.ts";
import type { AgentEnd, WorkOf } from "../../work.ts";
import {
  beginHandling,
  type Handled,
  handledByAgent,
  handledByWebhook,
  leaveWebhook,
  settleHandled,
} from "../handling.ts";
import { askJudges, judgeResult } from "./judging.ts";
import { joinedOutputs, parallelResult } from "./parallel-result.ts";

type ParallelState = StateOf<"ParallelAgents">;
type Work = WorkOf<"parallel">;

export const parallelAgentsKind: KindOfState<"ParallelAgents"> = {
  enter(run, state) {
    const mounts = mountsOf(run.state.header.volumes);
    const children = state.agents.map(({ agent: template, input, timeout_ms }, index) => {
      const agent = run.render(template).trim();
      if (agent === "") throw new StateFault("template_resolved_empty", `The name of agent ${index + 1} is empty`);
      return startChild(run, { role: "agent", index, agent, input: run.renderValue(input), timeout_ms, mounts });
    });
    run.work({
      of: "parallel",
      phase: "running",
      children,
      ends: state.agents.map(() => null),
      judges: state.judges_for_parallel,
      verdicts: [],
      result: null,
    });
  },

  leave(run, reason) {
    const { children, phase } = workOf(run);
    leaveChildren(run, children, reason);
    if (phase === "handling") leaveWebhook(run, stateOf(run).output_handler);
  },

  overdue(run, state) {
    const { ends, children, result } = workOf(run);
    const late = { status: "failed", error: "state_timeout", timed_out: true } as const;
    if (result !== null) return { ...result, ...late };
    const known = ends.map((end, index) => end ?? lost(run, state, index, children));
    const { consensus, agents, individual_results } = parallelResult(
      run.current.name,
      state.consensus,
      known,
      [],
      false,
    );
    return {
      consensus: consensus ?? null,
      agents: agents ?? null,
      individual_results: individual_results ?? null,
      ...late,
    };
  },

  agentStarted: (run, outcome) => update(run, onChildStarted(run, workOf(run).children, outcome)),
  childEnded: (run, end) => update(run, onChildEnded(workOf(run).children, end)),

  webhookAnswered(run, outcome) {
    if (workOf(run).phase === "handling") handled(run, handledByWebhook(outcome));
  },
};

const workOf = (run: RunTurn): Work => run.workOf("parallel");
const stateOf = (run: RunTurn): ParallelState => run.stateOf("ParallelAgents");

function change(run: RunTurn, members: Partial<Work>): void {
  run.work({ ...workOf(run), ...members });
}

/** An agent that was cancelled with its state. */
function lost(run: RunTurn, { agents }: ParallelState, index: number, children: Work["children"]): AgentEnd {
  const child = children.find((one) => one.role === "agent" && one.index === index);
  return {
    agent: child?.agent ?? run.render(agents[index]?.agent ?? ""),
    agent_id: null,
    execution_id: child?.id ?? "",
    status: "cancelled",
    output: null,
    error: "state_timeout",
  };
}

function update(run: RunTurn, { children, ended }: ChildUpdate): void {
  change(run, { children });
  if (ended === null) return;
  const { child, end } = ended;
  if (child.role === "output_handler") handled(run, handledByAgent(end));
  else if (child.role === "agent") agentEnded(run, child.index, end);
  else judgeEnded(run, child.index, end);
}

function agentEnded(run: RunTurn, index: number, end: AgentEnd): void {
  const ends = workOf(run).ends.map((one, at) => (at === index ? end : one));
  requireRoom(ends);
  change(run, { ends });
  const state = stateOf(run);
  const all = ends.filter((one) => one !== null);
  if (all.length < ends.length) return;
  const completed = all.filter(({ status }) => status === "completed");
  if (workOf(run).judges.length > 0 && completed.length > 0) {
    judge(run, state, all);
    return;
  }
  // Without an output there is nothing to judge.
  const verdicts = all.map((one, at) => judgeResult(one, state.agents[at]?.weight ?? 1));
  change(run, { verdicts });
  conclude(run, state, all);
}

/** A result holds every output twice over. What cannot fit is told before the other agents have run in vain. */
function requireRoom(ends: readonly (AgentEnd | null)[]): void {
  const room = ends.reduce((sum, end) => sum + (end?.output?.length ?? 0), 0);
  if (2 * room > maxResultBytes) throw new StateFault("blackboard_too_large", "The agents' outputs are too large");
}

function judge(run: RunTurn, state: ParallelState, ends: readonly AgentEnd[]): void {
  const { judges } = workOf(run);
  const children = askJudges(run, judges, {
    input: state.agents.map(({ input }) => run.renderValue(input)),
    intent: null,
    output: joinedOutputs(ends),
    iteration: 1,
    execution_id: null,
    mounts: mountsOf(run.state.header.volumes),
  });
  change(run, { phase: "judging", children, verdicts: judges.map(() => null) });
}

function judgeEnded(run: RunTurn, index: number, end: AgentEnd): void {
  const { judges, verdicts: earlier, children, ends } = workOf(run);
  const found = judgeResult(end, judges[index]?.weight ?? 1);
  change(run, { verdicts: earlier.map((one, at) => (at === index ? found : one)) });
  if (children.length === 0)
    conclude(
      run,
      stateOf(run),
      ends.filter((one) => one !== null),
    );
}

function conclude(run: RunTurn, state: ParallelState, ends: readonly AgentEnd[]): void {
  const { verdicts, judges } = workOf(run);
  const judged = judges.length > 0;
  const names = judged ? judges.map(({ agent }) => agent) : ends.map(({ agent }) => agent);
  const without = names.filter((_, at) => verdicts[at] == null);
  const result = parallelResult(run.current.name, state.consensus, ends, verdicts, judged, without);
  const { output_handler: handler } = state;
  if (handler === null || result.status === "failed") {
    settle(run, result);
    return;
  }
  const { children, handled: failed } = beginHandling(run, handler, joinedOutputs(ends));
  change(run, { phase: "handling", children: [...children], result });
  if (failed !== null) handled(run, failed);
}

const handled = (run: RunTurn, how: Handled): void =>
  settleHandled(run, stateOf(run).output_handler, workOf(run).result, how);
