/** Starts that succeeded although they are no longer waited for: what was started is cancelled. */

import { executionProtocol } from "../../execution/messages.ts";
import type { TellEffect } from "../../kernel/effect.ts";
import { tell } from "../../kernel/effect.ts";
import { isObject, type Json } from "../../kernel/json.ts";
import type { AgentStarted, RunStarted } from "./activities.ts";
import { workflowRunProtocol } from "./messages.ts";
import { agentStartId, concernsChild, concernsRun, runStartId } from "./relevance.ts";
import type { RunState } from "./state.ts";

const reason = "parent_ended";

/** What the news of an agent's start calls for when the work at hand knows nothing of it; null when it does. */
export function unwantedAgent(state: RunState | null, outcome: AgentStarted): TellEffect[] | null {
  const id = outcome.id.slice(agentStartId("").length);
  if (state?.current != null && concernsChild(id)(state.current)) return null;
  return outcome.ok ? [tell(executionProtocol, id, "cancel", { reason })] : [];
}

/** The same of a sub-workflow. One that goes on by itself, as it was asked to, is left alone. */
export function unwantedRun(state: RunState | null, outcome: RunStarted): TellEffect[] | null {
  const id = outcome.id.slice(runStartId("").length);
  if (state?.current != null && concernsRun(id)(state.current)) return null;
  return outcome.ok && !(state !== null && isReleased(state, id))
    ? [tell(workflowRunProtocol, id, "cancel", { reason })]
    : [];
}

/** Whether some state was done once this sub-workflow had started. */
function isReleased({ outputs, blackboard }: RunState, id: string): boolean {
  return outputs.some((name) => {
    const result = (blackboard[name] ?? null) as Json;
    if (!isObject(result)) return false;
    const { status, child_execution_id } = result as { readonly [member: string]: Json };
    return status === "success" && child_execution_id === id;
  });
}
