/** The activity `workflow.admission`: a run that follows another one waits until the start rates admit it. */
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { type Admitted, admission } from "../../../../../actors/workflow/run/activities/admission.ts";
import { workflowRun } from "../../../../../actors/workflow/run/run.ts";
import type { RunState } from "../../../../../actors/workflow/run/state.ts";
import { type Activity, implement, Retryable, type Runtime, Terminal } from "../../../../runtime/port.ts";

export interface AdmissionOptions {
  readonly runtime: Pick<Runtime, "of">;
  /** `admitFollower` of the runs. */
  readonly admit: (executionId: string, pending: RunState) => Promise<Admitted>;
}

/** A rate may admit others that come first, so it is asked again this often at least. */
const longestPauseMs = 30_000;

export function admissionActivity({ runtime, admit }: AdmissionOptions): Activity {
  return implement(
    admission,
    {
      // One that is refused keeps its place while it waits; that costs next to nothing.
      concurrency: 1024,
      retry: { attempts: Number.MAX_SAFE_INTEGER, firstDelayMs: 500 },
    },
    async (_, { actor, signal }) => {
      signal.throwIfAborted();
      const pending = await runtime.of(workflowRun).at(actor.tenant, actor.key).read();
      if (pending?.status !== "pending") {
        throw new Terminal("workflow_execution_not_found", "The run no longer waits for its start");
      }
      try {
        return await admit(actor.key, pending);
      } catch (error) {
        throw startFailure(error);
      }
    },
  );
}

/** Refusals are final; what may pass, as a rate or an outage, is tried again. */
function startFailure(error: unknown): unknown {
  if (!(error instanceof Problem) || error.status >= 500) return error;
  if (error.status !== 429) return new Terminal(error.code, error.message);
  const seconds = Number(error.headers["Retry-After"] ?? Number.NaN);
  return new Retryable(error.message, Number.isFinite(seconds) ? Math.min(seconds * 1000, longestPauseMs) : null);
}
