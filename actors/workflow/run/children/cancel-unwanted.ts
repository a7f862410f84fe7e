/** Starts that succeeded although they are no longer waited for: what was started is cancelled. */

import { executionProtocol } from "../../../execution/messages.ts";
import { fleetRunProtocol } from "../../../fleet-run/messages.ts";
import type { TellEffect } from "../../../kernel/effect.ts";
import { perform, tell } from "../../../kernel/effect.ts";
import { isObject, type Json } from "../../../kernel/json.ts";
import { toolCallProtocol } from "../../../tool-call/messages.ts";
import { type AgentStarted, cleanup, type RunStarted } from "../activities.ts";
import { type NewsOf, workflowRunProtocol } from "../messages.ts";
import { agentOf, concernsCall, concernsChild, concernsRun, subrunOf } from "../relevance.ts";
import type { RunHeader, RunState } from "../state.ts";
import { linesOf } from "../work.ts";

const reason = "parent_ended";

/** What the news of an agent's start calls for when the work at hand knows nothing of it; null when it does. */
export function unwantedAgent(state: RunState | null, outcome: AgentStarted): TellEffect[] | null {
  const id = agentOf(outcome);
  if (state !== null && isKnown(state, concernsChild(id))) return null;
  return outcome.ok ? [tell(executionProtocol, id, "cancel", { reason })] : [];
}

/** The same of a sub-workflow. One that goes on by itself, as it was asked to, is left alone. */
export function unwantedRun(state: RunState | null, outcome: RunStarted): TellEffect[] | null {
  const id = subrunOf(outcome);
  if (state !== null && isKnown(state, concernsRun(id))) return null;
  return outcome.ok && !(state !== null && isReleased(state, id))
    ? [tell(workflowRunProtocol, id, "cancel", { reason })]
    : [];
}

/** The volumes of a run that ended before it was admitted: those that nothing else has go. */
export function unwantedVolumes(runId: string, { volumes }: RunHeader) {
  const ephemeral = volumes.filter(({ storage_class }) => storage_class === "ephemeral");
  if (volumes.length === 0) return [];
  const input = { execution_id: runId, volume_ids: ephemeral.map(({ volume_id }) => volume_id) };
  return [perform(cleanup, input, { id: `cleanup:${runId}:unwanted`, then: "cleaned_up" as const })];
}

/** People are asked about a call of a tool that no state waits for any more: it is withdrawn. */
export function unwantedCall(
  state: RunState | null,
  { invocation_id, asked }: NewsOf<"tool_waiting">,
): TellEffect[] | null {
  if (state !== null && isKnown(state, concernsCall(invocation_id))) return null;
  return asked === null ? [] : [tell(toolCallProtocol, invocation_id, "withdraw", { reason })];
}

/** A fleet run that no state waits for any more. */
export function unwantedFleet(state: RunState | null, news: NewsOf<"fleet_waiting">): TellEffect[] | null {
  if (state !== null && isKnown(state, concernsCall(news.invocation_id))) return null;
  return [tell(fleetRunProtocol, news.fleet_command_id, "cancel", { by: null, reason })];
}

/** Whether the work at hand, of any line, knows of it. */
function isKnown({ current }: RunState, concerns: ReturnType<typeof concernsChild>): boolean {
  return (
    current !== null &&
    [current, ...linesOf(current).map((line) => line.current)].some((one) => one !== null && concerns(one))
  );
}

/** Whether some state was done once this sub-workflow had started. */
function isReleased({ outputs, blackboard, current }: RunState, id: string): boolean {
  const results = [
    ...outputs.map((name) => blackboard[name]),
    ...linesOf(current).flatMap(({ notes }) => Object.values(notes)),
  ];
  return results.some((result: Json = null) => {
    if (!isObject(result)) return false;
    const { status, child_execution_id } = result as { readonly [member: string]: Json };
    return status === "success" && child_execution_id === id;
  });
}
