/** A workflow run hears when tool calls of an execution that it started wait for people: its own clocks stand still, too. */
import { parentMessages, workflowRunKind } from "../../child.ts";
import type { ExecutionTurn } from "../../turn.ts";

export function tellWaiting(turn: ExecutionTurn): void {
  const { header, waiting } = turn.state;
  const { parent_execution_id: parent } = header.hierarchy;
  if (parent === null || header.workflow_execution_id !== parent || waiting === undefined) return;
  turn.tell({ kind: workflowRunKind, messages: parentMessages }, header.told ?? parent, "child_waiting", {
    child_execution_id: turn.executionId,
    waiting: waiting.for,
    since: waiting.since,
    most_ms: waiting.lent_ms,
  });
}
