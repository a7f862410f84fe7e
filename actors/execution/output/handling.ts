/** The work of an output handler: its names, and how it is given up. */

import type { OutputHandler } from "../../agent/manifest/results.ts";
import type { Life } from "../life.ts";
import type { HandlerRule } from "../state.ts";

export const handlerTimer = "output-handler";
export const handleId = (executionId: string): string => `handle:${executionId}`;
export const recallId = (executionId: string): string => `recall:${executionId}`;

export function handlerRuleOf(handler: OutputHandler | null): HandlerRule | null {
  if (handler === null) return null;
  const { type, timeout_ms, required } = handler;
  return { type, agent: handler.type === "agent" ? handler.agent : null, timeout_ms, required };
}

/** The execution ends meanwhile. A handler that is an agent is cancelled with the other children. */
export function giveUpHandling(life: Life): void {
  const { handler, handling } = life.state;
  life.state.handling = null;
  if (handling === null || handler === null) return;
  if (handling === "recalling") life.abandon(recallId(life.executionId));
  else if (handler.type === "webhook") life.abandon(handleId(life.executionId));
  else life.cancelTimer(handlerTimer);
}
