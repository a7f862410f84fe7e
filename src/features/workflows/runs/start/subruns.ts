/** The activity `workflow.start`: a run starts another workflow below itself. */

import { Problem } from "../../../../../actors/kernel/problem.ts";
import { rateUserIn } from "../../../../../actors/policy/rates/counted.ts";
import { type RunStart, runStart } from "../../../../../actors/workflow/run/activities.ts";
import { workflowRun } from "../../../../../actors/workflow/run/run.ts";
import { callerOf, type RunRequest } from "../../../../../actors/workflow/run/start/request.ts";
import type { RunState } from "../../../../../actors/workflow/run/state.ts";
import {
  type Activity,
  type Address,
  implement,
  isServiceAway,
  Retryable,
  type Runtime,
  Terminal,
} from "../../../../runtime/port.ts";
import { runOf } from "../items/run-of.ts";
import type { StartedRun } from "../port.ts";

export interface SubrunOptions {
  readonly runtime: Pick<Runtime, "of">;
  /** `startAs` of the runs, once there is one. The same id again is the same run. */
  readonly start: (executionId: string, request: RunRequest) => Promise<StartedRun>;
}

/** Attempts for faults of the service itself; an item of a Map is refused for want of room as long as that takes. */
const maxFaults = 3;
const firstDelayMs = 300;

export function subrunActivity(options: SubrunOptions): Activity {
  const faults = new Map<string, number>();

  /** Refusals are final; what may pass, as an outage, is tried again. */
  function startFailure(error: unknown, id: string, isItem: boolean): unknown {
    const status = error instanceof Problem ? error.status : 500;
    if (isServiceAway(error) || (status === 429 && isItem)) return error;
    const before = faults.get(id) ?? 0;
    faults.delete(id);
    if (error instanceof Terminal) return error;
    if (error instanceof Problem && status < 500 && status !== 429) return new Terminal(error.code, error.message);
    const message = error instanceof Error ? error.message : String(error);
    if (before + 1 >= maxFaults) return new Terminal("attempts_exhausted", message);
    faults.set(id, before + 1);
    return new Retryable(message, firstDelayMs * 2 ** before);
  }

  async function start(work: RunStart, actor: Address, header: RunState["header"], id: string) {
    try {
      const started = await options.start(work.child_execution_id, requestOf(actor, header, work));
      faults.delete(id);
      return { workflow_id: started.workflow_id, workflow_name: started.workflow_name };
    } catch (error) {
      throw startFailure(error, id, header.batch !== undefined);
    }
  }

  return implement(
    runStart,
    {
      // One that is refused keeps its place while it waits; that costs next to nothing.
      concurrency: 256,
      retry: { attempts: Number.MAX_SAFE_INTEGER, firstDelayMs },
    },
    async (work, { id, actor, signal }) => {
      const isAbandoned = () => signal.aborted && signal.reason === "abandoned";
      try {
        if (isAbandoned()) signal.throwIfAborted();
        const parent = (await options.runtime.of(workflowRun).readListed(actor.tenant, [actor.key])).get(actor.key);
        if (parent === undefined) throw new Terminal("workflow_execution_not_found", "The parent was removed");
        return await start(work, actor, parent.header, id);
      } finally {
        if (signal.aborted) faults.delete(id);
        // It may have started all the same, and who asked for it will not hear of it any more.
        if (isAbandoned()) {
          const child = options.runtime.of(workflowRun).at(actor.tenant, work.child_execution_id);
          await child.ask("cancel", { reason: "parent_ended" }, { repeatable: true });
        }
      }
    },
  );
}

function requestOf(actor: Address, header: RunState["header"], work: RunStart): RunRequest {
  const { tenant } = actor;
  const { executionId, told } = runOf(actor, header);
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
      executionId,
      stateName: work.state_name,
      waits: work.waits,
      ...told,
      depth: header.depth,
      path: header.path,
      rootExecutionId: header.root_execution_id,
      attachments: work.attachments,
    },
    stimulusId: null,
    // A state starts one workflow, a Map as many as there are items.
    rateExempt: header.batch === undefined,
  };
}
