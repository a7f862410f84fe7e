/** The activity `workflow.start`: a run starts another workflow below itself. */

import { Problem } from "../../../../../actors/kernel/problem.ts";
import { rateUserIn } from "../../../../../actors/policy/rates/counted.ts";
import { type RunStart, runStart } from "../../../../../actors/workflow/run/activities.ts";
import { workflowRun } from "../../../../../actors/workflow/run/run.ts";
import { callerOf, type RunRequest } from "../../../../../actors/workflow/run/start/request.ts";
import type { RunState } from "../../../../../actors/workflow/run/state.ts";
import { type Activity, type Address, implement, type Runtime, Terminal } from "../../../../runtime/port.ts";
import type { StartedRun } from "../port.ts";

export interface SubrunOptions {
  readonly runtime: Pick<Runtime, "of">;
  /** `startAs` of the runs, once there is one. The same id again is the same run. */
  readonly start: (executionId: string, request: RunRequest) => Promise<StartedRun>;
}

export function subrunActivity(options: SubrunOptions): Activity {
  return implement(
    runStart,
    {
      concurrency: 32,
      retry: { attempts: 3, firstDelayMs: 300 },
    },
    async (work, { actor }) => {
      const parent = (await options.runtime.of(workflowRun).readListed(actor.tenant, [actor.key])).get(actor.key);
      if (parent === undefined) throw new Terminal("workflow_execution_not_found", "The parent was removed");
      const { header } = parent;
      try {
        const started = await options.start(work.child_execution_id, requestOf(actor, header, work));
        return { workflow_id: started.workflow_id, workflow_name: started.workflow_name };
      } catch (error) {
        throw startFailure(error);
      }
    },
  );
}

function requestOf({ key, tenant }: Address, header: RunState["header"], work: RunStart): RunRequest {
  return {
    tenant,
    ref: work.workflow,
    version: null,
    input: work.input,
    blackboard: null,
    // A state that starts a workflow states no intent.
    intent: "",
    attachments: [],
    timeoutSeconds: null,
    securityContext: header.security_context,
    starter: callerOf(header),
    startedBy: header.starter ?? null,
    ceilings: header.context_ceilings ?? [],
    countedFor: rateUserIn(header),
    initiatedBy: header.initiated_by,
    parent: {
      executionId: key,
      stateName: work.state_name,
      waits: work.waits,
      depth: header.depth,
      path: header.path,
      rootExecutionId: header.root_execution_id,
      attachments: work.attachments,
    },
    stimulusId: null,
    rateExempt: true,
  };
}

/** Refusals are final; what may pass, as an outage, is tried again. */
function startFailure(error: unknown): unknown {
  if (!(error instanceof Problem) || error.status >= 500 || error.status === 429) return error;
  return new Terminal(error.code, error.message);
}
