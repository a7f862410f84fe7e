/** The work of an output handler: its names, and how it is given up. */

import type { OutputHandler } from "../../agent/manifest/execution/results.ts";
import type { HandlerRule } from "../state.ts";
import type { ExecutionTurn } from "../turn.ts";

export const handlerTimer = "output-handler";
export const handleId = (executionId: string): string => `handle:${executionId}`;
export const recallId = (executionId: string): string => `recall:${executionId}`;

export function handlerRuleOf(handler: OutputHandler | null): HandlerRule | null {
  if (handler === null) return null;
  const { type, timeout_ms, required } = handler;
  return { type, agent: handler.type === "agent" ? handler.agent : null, timeout_ms, required };
}

/** The execution ends meanwhile. A handler that is an agent is cancelled with the other children. */
export function giveUpHandling(turn: ExecutionTurn): void {
  const { handler, handling } = turn.state;
  turn.state.handling = null;
  if (handling === null || handler === null) return;
  if (handling === "recalling") turn.abandon(recallId(turn.executionId));
  else if (handler.type === "webhook") turn.abandon(handleId(turn.executionId));
  else turn.cancelTimer(handlerTimer);
}
