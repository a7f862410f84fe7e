/**
 * The agent executions that a state starts: its agents, their judges, a pre-validator, an output handler.
 *
 * A child is an execution of its own. The run names it, asks for its start by the activity `workflow.agent`, and keeps
 * it in the state's work until it is over; the child's terminal turn tells the run `child_ended`. A child that never
 * started is over as well, failed with the code that its start was refused with.
 */

import type { ChildEnd } from "../../../execution/child.ts";
import { type JudgeVerdict, readVerdict } from "../../../execution/judging/judge-verdict.ts";
import { executionProtocol } from "../../../execution/messages.ts";
import type { MountPlan } from "../../../execution/start/plan.ts";
import { mayHaveHappened } from "../../../kernel/activity.ts";
import type { Json } from "../../../kernel/json.ts";
import { type AgentStart, type AgentStarted, agentStart } from "../activities.ts";
import { agentStartId } from "../relevance.ts";
import type { RunTurn } from "../turn.ts";
import type { AgentChild, AgentEnd } from "../work.ts";

/** How long a start may be refused for want of room, where the state has no timeout of its own. */
const startTimeoutMs = 30 * 60_000;
/** Of judges and pre-validators, as of an agent's own judges. */
export const judgeTimeoutMs = 300_000;
/** What may hold a verdict's reasoning (docs/reference/workflows.md). */
const reasons = ["reasoning", "feedback", "message"];

export interface ChildRequest {
  readonly role: AgentChild["role"];
  readonly index: number;
  /** Name or UUID. */
  readonly agent: string;
  readonly input: Json;
  readonly intent?: string | null;
  /** Null: the agent's own. */
  readonly timeout_ms: number | null;
  readonly isolation?: string | null;
  readonly temperature?: number | null;
  readonly mounts?: readonly MountPlan[];
  readonly judged?: AgentStart["judged"];
}

/** Asks for a child; its end comes to the state. */
export function startChild(run: RunTurn, request: ChildRequest): AgentChild {
  const { role, index, agent, timeout_ms } = request;
  const { header } = run.state;
  const { deadline_at } = run.current;
  const id = run.context.newId();
  const left = deadline_at === null ? null : Math.max(1, deadline_at - run.now);
  const input: AgentStart = {
    child_execution_id: id,
    agent,
    trigger: role === "agent" ? "workflow" : role === "output_handler" ? "output_handler" : "validator",
    input: request.input,
    intent: request.intent ?? null,
    timeout_ms: left === null || timeout_ms === null ? (left ?? timeout_ms) : Math.min(left, timeout_ms),
    // An item waits for room for as long as it takes.
    start_by: run.itemIndex === null ? (deadline_at ?? run.now + startTimeoutMs) : Number.MAX_SAFE_INTEGER,
    overrides: {
      isolation: request.isolation ?? null,
      temperature: request.temperature ?? null,
      mounts: [...(request.mounts ?? [])],
      security_context: header.security_context,
      attachments: role === "agent" ? header.attachments : [],
    },
    judged: request.judged ?? null,
  };
  run.perform(agentStart, input, { id: agentStartId(id), then: "agent_started" });
  return { id, role, index, agent, started: false };
}

/** A child that is over. */
export interface Ended {
  readonly child: AgentChild;
  readonly end: AgentEnd;
}

/** What a message about a child changes: the children still at work, and the one that has ended, if any. */
export interface ChildUpdate {
  readonly children: AgentChild[];
  readonly ended: Ended | null;
}

/** The start of a child went through, or did not: then it is over. */
export function onChildStarted(run: RunTurn, children: readonly AgentChild[], outcome: AgentStarted): ChildUpdate {
  const child = children.find(({ id }) => agentStartId(id) === outcome.id);
  if (child === undefined) return { children: [...children], ended: null };
  if (outcome.ok) {
    return { children: children.map((one) => (one === child ? { ...one, started: true } : one)), ended: null };
  }
  // A refusal stores nothing; the outcome of a start that got no answer is unknown.
  if (mayHaveHappened(outcome)) cancelChild(run, child, "parent_ended");
  const end: AgentEnd = {
    agent: child.agent,
    agent_id: null,
    execution_id: null,
    status: "failed",
    output: null,
    error: outcome.code,
    cause: outcome.message,
  };
  return { children: children.filter((one) => one !== child), ended: { child, end } };
}

/** A child has ended. The news of its start may be the later one. */
export function onChildEnded(children: readonly AgentChild[], news: ChildEnd): ChildUpdate {
  const child = children.find(({ id }) => id === news.child_execution_id);
  if (child === undefined) return { children: [...children], ended: null };
  const { agent_id, status, output, error_code, reason = null } = news;
  const error = status === "completed" ? null : (error_code ?? `execution_${status}`);
  const end: AgentEnd = { agent: child.agent, agent_id, execution_id: child.id, status, output, error, cause: reason };
  return { children: children.filter((one) => one !== child), ended: { child, end } };
}

/** Gives up children that are no longer waited for. A start under way is given up; its activity cancels what it started. */
export function leaveChildren(run: RunTurn, children: readonly AgentChild[], reason: string): void {
  for (const child of children) {
    if (!child.started) run.abandon(agentStartId(child.id));
    cancelChild(run, child, reason);
  }
}

function cancelChild(run: RunTurn, { id }: AgentChild, reason: string): void {
  run.tell(executionProtocol, id, "cancel", { reason });
}

/** What a judge found; null: it failed, or gave no verdict. */
export function verdictOf({ status, output }: AgentEnd): JudgeVerdict | null {
  return status === "completed" ? readVerdict(output ?? "", reasons) : null;
}
