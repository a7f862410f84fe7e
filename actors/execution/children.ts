/**
 * The executions that an execution starts: judges, output handlers, and those of its tool calls.
 *
 * A child is an execution of its own. Its parent names it, asks for its start by the activity
 * `child.start`, and remembers it while it waits for its end; the child's terminal turn tells the parent
 * `child_ended`. A child that is no longer waited for is cancelled, even when the news of its start comes late.
 */

import type { TellEffect } from "../kernel/effect.ts";
import { tell } from "../kernel/effect.ts";
import type { Child, ChildEnd, ChildRole, ChildStart, ChildStarted } from "./child.ts";
import { childStart } from "./child.ts";
import { executionProtocol } from "./messages.ts";
import type { ExecutionState } from "./state.ts";
import type { ExecutionTurn } from "./turn.ts";

/** A child that is over for its parent. */
export interface Ended {
  readonly child: Child;
  /** `refused` when it never started; `error_code` then says why. */
  readonly status: string;
  readonly output: string | null;
  readonly error_code: string | null;
}

const startId = (childId: string): string => `child:${childId}`;

/**
 * Asks for a child. Its end goes to the code that handles its role.
 * @returns the child's execution id
 */
export function startChild(
  turn: ExecutionTurn,
  role: ChildRole,
  concern: string,
  request: Pick<ChildStart, "agent" | "timeout_ms" | "input">,
): string {
  const id = turn.context.newId();
  turn.state.children.push({ id, role, concern, agent_id: null });
  const trigger = role === "output_handler" ? "output_handler" : "validator";
  const input: ChildStart = { child_execution_id: id, trigger, ...request };
  turn.perform(childStart, input, { id: startId(id), then: "child_started" });
  return id;
}

/** The start of a child went through, or did not: then it is over. Null while it goes on. */
export function childStarted(turn: ExecutionTurn, outcome: ChildStarted): Ended | null {
  const child = turn.state.children.find(({ id }) => startId(id) === outcome.id);
  if (child === undefined) {
    turn.push(...unwanted(outcome));
    return null;
  }
  if (child.agent_id !== null) return null;
  if (outcome.ok) {
    noteSpawned(turn, child, outcome.value.agent_id);
    return null;
  }
  forget(turn, child);
  return { child, status: "refused", output: null, error_code: outcome.code };
}

/** A child has ended. Null when it is not waited for. */
export function childEnded(turn: ExecutionTurn, end: ChildEnd): Ended | null {
  const child = turn.state.children.find(({ id }) => id === end.child_execution_id);
  if (child === undefined) return null;
  // The news of its start may be the later one.
  if (child.agent_id === null) noteSpawned(turn, child, end.agent_id);
  forget(turn, child);
  noteCompleted(turn, child, end.status);
  const { status, output, error_code } = end;
  return { child, status, output, error_code };
}

/** Children of tool calls that one execution may have under way. */
const maxToolChildren = 200;

/**
 * A tool call has started an execution below this one, or is about to: it ends with this one, unless they are a swarm.
 * Repeatable; one that has ended meanwhile has told so already, and is not taken again.
 */
export function adoptChild(turn: ExecutionTurn, childId: string, agentId: string): "adopted" | "too_many" {
  const { children } = turn.state;
  const known = children.find(({ id }) => id === childId);
  if (known === undefined && children.filter(({ role }) => role === "tool").length >= maxToolChildren)
    return "too_many";
  if (known !== undefined) return "adopted";
  const child: Child = { id: childId, role: "tool", concern: childId, agent_id: null };
  children.push(child);
  noteSpawned(turn, child, agentId);
  return "adopted";
}

/** Cancels children that are no longer waited for. */
export function dismissChildren(turn: ExecutionTurn, concern: string, reason: string): void {
  for (const child of turn.state.children.filter((one) => one.concern === concern)) dismiss(turn, child, reason);
}

/** Members of a swarm go on without their parent, unless that is cancelled. */
export function childrenOutlive({ header, status }: ExecutionState): boolean {
  return header.hierarchy.swarm_id !== null && status !== "cancelled";
}

/** The execution has ended, under the status it has now. */
export function leaveChildren(turn: ExecutionTurn): void {
  const { children, status } = turn.state;
  const reason = status === "cancelled" ? "parent_cancelled" : "parent_ended";
  if (!childrenOutlive(turn.state)) for (const child of [...children]) dismiss(turn, child, reason);
  turn.state.children = [];
}

/** The answer to the start of a child that is no longer waited for. */
export function unwanted(outcome: ChildStarted): TellEffect[] {
  if (!outcome.ok) return [];
  const key = outcome.id.slice(startId("").length);
  return [tell(executionProtocol, key, "cancel", { reason: "parent_ended" })];
}

function dismiss(turn: ExecutionTurn, child: Child, reason: string): void {
  forget(turn, child);
  if (child.agent_id !== null) noteCompleted(turn, child, "cancelled");
  turn.tell(executionProtocol, child.id, "cancel", { reason });
}

function forget(turn: ExecutionTurn, child: Child): void {
  turn.state.children = turn.state.children.filter(({ id }) => id !== child.id);
}

function noteSpawned(turn: ExecutionTurn, child: Child, agentId: string): void {
  child.agent_id = agentId;
  turn.emit("child_execution_spawned", {
    parent_execution_id: turn.executionId,
    child_execution_id: child.id,
    child_agent_id: agentId,
    spawned_at: turn.at,
  });
}

function noteCompleted(turn: ExecutionTurn, child: Child, outcome: string): void {
  turn.emit("child_execution_completed", { child_execution_id: child.id, outcome, completed_at: turn.at });
}
