/** Where an execution that a tool call starts belongs. */
import type { StartOrigin } from "../../../actors/execution/start/request.ts";
import { isOver } from "../../../actors/execution/state.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Executions } from "../executions/port.ts";
import type { ToolCaller } from "../management-tools/port.ts";

/** Below the execution that calls; a root of its own where a session calls. @throws Problem 404 when that one is gone */
export async function originOf(
  executions: Pick<Executions, "find">,
  { tenant, identity, executionId }: ToolCaller,
): Promise<StartOrigin> {
  const origin = {
    trigger: "tool",
    workflow: null,
    initiatingUserSub: identity.userId,
    initiatingRealm: identity.realm,
    exempt: false,
  } as const;
  if (executionId === null) return { ...origin, parent: null };
  const { state } = await executions.find(tenant, executionId);
  const { depth, path, swarm_id } = state.header.hierarchy;
  const swarmId = swarm_id === null || (await isFounded(executions, tenant, swarm_id)) ? swarm_id : null;
  return {
    ...origin,
    initiatingUserSub: state.header.initiating_user_sub,
    parent: { executionId, depth, path, swarmId },
  };
}

/** A swarm whose founder has ended takes no new members. */
async function isFounded(executions: Pick<Executions, "find">, tenant: string, founderId: string): Promise<boolean> {
  try {
    return !isOver((await executions.find(tenant, founderId)).state);
  } catch (error) {
    if (error instanceof Problem && error.code === "execution_not_found") return false;
    throw error;
  }
}
