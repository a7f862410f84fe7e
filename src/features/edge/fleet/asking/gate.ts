/** Who has to agree to a run before anything is sent. */
import type { Policy } from "../../../../../actors/edge/policy.ts";
import type { Target } from "../../../../../actors/edge/target.ts";
import type { RunEntry } from "../../../../../actors/fleet-run/words.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { FleetSettings } from "../schema.ts";
import { namedBy, type Resolved } from "./resolution.ts";

export interface AskedBy {
  readonly entry: RunEntry;
  /** An agent asks, or a workflow run that an agent's call began. */
  readonly isAgent: boolean;
}

/** Whether a run needs an approval. @throws Problem 403 `agent_runs_denied` */
export function needsApproval(
  settings: FleetSettings,
  policy: Pick<Policy, "approval">,
  resolved: Resolved,
  { isAgent }: AskedBy,
): boolean {
  if (isAgent && settings.agent_runs === "deny")
    throw new Problem("agent_runs_denied", "Agents may not run anything on hosts of this tenant");
  const { approve_all, approve_above } = settings;
  return (
    policy.approval ||
    (approve_all && resolved.meansAll) ||
    (approve_above !== null && namedBy(resolved) > approve_above) ||
    (isAgent && settings.agent_runs === "approve")
  );
}

const maxPrompt = 1000;

/** What people are asked. */
export function promptOf(tool: string, resolved: Resolved): string {
  const { eligible, queued, skipped } = resolved;
  const counts = `${eligible.length} hosts now, ${queued.length} later, ${skipped.length} left out`;
  return `Run ${tool} on ${describe(resolved.target).slice(0, maxPrompt)} (${counts})?`;
}

function describe(target: Target): string {
  if ("All" in target) return "all hosts";
  if ("Node" in target) return `host ${target.Node}`;
  if ("Nodes" in target) return `${target.Nodes.length} named hosts`;
  if ("Group" in target) return `group ${target.Group}`;
  return `the hosts of selector ${JSON.stringify(target.Selector)}`;
}
