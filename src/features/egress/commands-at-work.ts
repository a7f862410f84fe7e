/** Commands of workflow runs as the egress proxy knows them: by the run and by the id of the command. */
import { type NetworkPolicy, policyOf } from "../../../actors/policy/network/policy.ts";
import { workflowRun } from "../../../actors/workflow/run/run.ts";
import type { RunState } from "../../../actors/workflow/run/state.ts";
import { type Work, worksOf } from "../../../actors/workflow/run/work.ts";
import type { Runtime } from "../../runtime/port.ts";
import type { ExecutionIdentity } from "../execution-tokens/port.ts";

/** `network_mode: default` of a workflow's state: every public host, by its name. */
export const publicHosts: NetworkPolicy = policyOf({ mode: "allow", allowlist: [], denylist: [] });

/** Of the given commands of a tenant those that their runs still work with. */
export async function commandsAtWork<T extends ExecutionIdentity>(
  runtime: Pick<Runtime, "of">,
  tenant: string,
  commands: readonly T[],
): Promise<ReadonlySet<T>> {
  if (commands.length === 0) return new Set();
  const ids = [...new Set(commands.map(({ executionId }) => executionId))];
  const states = await runtime.of(workflowRun).readListed(tenant, ids);
  return new Set(
    commands.filter(({ executionId, instanceId }) => isAtWork(states.get(executionId), `command:${instanceId}`)),
  );
}

function isAtWork(state: Pick<RunState, "status" | "current"> | undefined, activity: string): boolean {
  if (state === undefined) return false;
  const { status, current } = state;
  return status === "running" && worksOf(current).some((work) => activitiesOf(work).includes(activity));
}

/** Commands under way; those with a result are over. */
function activitiesOf(work: Work): string[] {
  if (work.of === "command") return work.result === null ? [work.activity] : [];
  if (work.of !== "commands") return [];
  return work.steps.filter(({ result }) => result === null).map(({ activity }) => activity);
}
