/** Where an execution that a tool call starts belongs. */
import type { StartOrigin } from "../../../actors/execution/start/request.ts";
import type { Executions } from "../executions/port.ts";
import type { ToolCaller } from "../management-tools/port.ts";

/** Below the execution that calls; a root of its own where a session calls. @throws Problem 404 when that one is gone */
export async function originOf(
  executions: Pick<Executions, "find" | "joinable">,
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
  const swarmId = await executions.joinable(tenant, swarm_id);
  return {
    ...origin,
    initiatingUserSub: state.header.initiating_user_sub,
    parent: { executionId, depth, path, swarmId },
  };
}
