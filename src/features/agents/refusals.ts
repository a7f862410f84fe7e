/** What callers are told when an agent is not there, not theirs to change, or in the way. */
import { Problem } from "../../../actors/kernel/problem.ts";

export function agentNotFound(): Problem {
  return new Problem("agent_not_found", "Agent not found");
}

export function versionNotFound(): Problem {
  return new Problem("agent_version_not_found", "Agent version not found");
}

export function globalForbidden(): Problem {
  return new Problem("global_scope_forbidden", "Only global publishers create or change global agents");
}

export function versionExists(agentId: string, version: string): Problem {
  const message = "This version of the agent exists; deploy it with force=true to replace it";
  return new Problem("agent_version_exists", message, { agent_id: agentId, version });
}
