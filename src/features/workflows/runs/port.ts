/** A start of a workflow run as it is asked for: by a request, a tool, a parent run, a stimulus, a retry. */

import type { Starter } from "../../../../actors/execution/start/request.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { Initiator } from "../../../../actors/workflow/run/state.ts";

export interface RunRequest {
  readonly tenant: string;
  /** Name or UUID of the workflow. */
  readonly ref: string;
  readonly version: string | null;
  readonly input: Json;
  /** Both spellings of the request merged; null: none. */
  readonly blackboard: Json;
  readonly intent: string;
  readonly attachments: readonly Json[];
  readonly timeoutSeconds: number | null;
  readonly securityContext: string | null;
  /** For permissions and quotas; null: nobody in particular. */
  readonly starter: Starter | null;
  readonly initiatedBy: Initiator;
  readonly parent: {
    readonly executionId: string;
    readonly stateName: string;
    readonly waits: boolean;
    readonly depth: number;
    readonly path: readonly string[];
    readonly rootExecutionId: string;
  } | null;
  readonly stimulusId: string | null;
  /** Children and stimuli were counted where they came from. */
  readonly rateExempt: boolean;
}

/** The answer to a start (contract 10). */
export interface StartedRun {
  readonly execution_id: string;
  readonly id: string;
  readonly workflow_id: string;
  readonly workflow_name: string;
  readonly version: string;
  readonly status: "running";
  readonly started_at: string;
  readonly temporal_workflow_id: string;
  readonly temporal_run_id: string;
}
