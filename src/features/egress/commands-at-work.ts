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
  const runs = runtime.of(workflowRun);
  const states = await runs.readListed(tenant, [...new Set(commands.map(({ executionId }) => executionId))]);
  // Items of a Map are at work in child records of their run.
  const records = [...states.values()].flatMap(recordsOf);
  const items = records.length === 0 ? new Map<string, Listed>() : await runs.readListed(tenant, records);
  const isOfRun = ({ executionId, instanceId }: T): boolean => {
    const state = states.get(executionId);
    if (state === undefined) return false;
    const all = [state, ...recordsOf(state).flatMap((id) => items.get(id) ?? [])];
    return all.some((one) => isAtWork(one, `command:${instanceId}`));
  };
  return new Set(commands.filter(isOfRun));
}

type Listed = Pick<RunState, "status" | "current">;

function recordsOf({ current }: Listed): string[] {
  return current?.work.of === "map" ? current.work.batches.map(({ id }) => id) : [];
}

const isAtWork = ({ status, current }: Listed, activity: string): boolean =>
  status === "running" && worksOf(current).some((work) => activitiesOf(work).includes(activity));

/** Commands under way; those with a result are over. */
function activitiesOf(work: Work): string[] {
  if (work.of === "command") return work.result === null ? [work.activity] : [];
  if (work.of !== "commands") return [];
  return work.steps.filter(({ result }) => result === null).map(({ activity }) => activity);
}
