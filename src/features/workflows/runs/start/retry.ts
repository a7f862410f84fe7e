/** A run that did not complete, begun anew where it ended: its manifest, its input, its last blackboard. */

import type { Starter } from "../../../../../actors/execution/start/request.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { mayUseContext } from "../../../../../actors/policy/security-context.ts";
import { type Initiator, isOver, type RunState } from "../../../../../actors/workflow/run/state.ts";
import { keptVolumes, type PreparedRun, type RunStartOptions, refundedUnless, type StartMessage } from "./start.ts";
import { tierOf } from "./starter.ts";

export interface RetryRequest {
  readonly tenant: string;
  /** Null: the last state entered. */
  readonly fromState: string | null;
  readonly starter: Starter;
  readonly initiatedBy: Initiator;
}

/**
 * Its volumes that outlive runs are mounted again, ephemeral ones are made anew. The retry of a sub-workflow stands by
 * itself: its parent has gone on.
 * @param earlierId of the run that is begun anew
 * @throws Problem 402, 403; 409 `invalid_state` while it is live, `nothing_to_retry` when it completed; 422
 *   `unknown_state`; what `admit` throws
 */
export async function prepareRetry(
  { volumes, admit }: RunStartOptions,
  executionId: string,
  earlierId: string,
  earlier: RunState,
  request: RetryRequest,
): Promise<PreparedRun> {
  const { header, definition, status } = earlier;
  const { tenant, starter } = request;
  if (!isOver(earlier)) throw new Problem("invalid_state", "The execution has not ended", { status });
  if (status === "completed") throw new Problem("nothing_to_retry", "The execution completed", { status });
  const state = request.fromState ?? earlier.current_state ?? definition.initial_state;
  if (!Object.hasOwn(definition.states, state)) throw unknownState(state);
  const context = header.security_context;
  if (context !== null && !mayUseContext(context, starter)) {
    throw new Problem("security_context_forbidden", `The caller may not use the security context ${context}`);
  }
  const admission = await admit({ tenant, starter });
  const mounts = await refundedUnless(admission, () =>
    volumes.settleRun({
      tenant,
      executionId,
      reader: starter,
      workflow: header.workflow_name,
      declared: definition.storage,
      given: keptVolumes(header.volumes),
      // Judged when the earlier run started.
      attachments: header.attachments,
    }),
  );
  const message: StartMessage = {
    header: {
      ...header,
      initiated_by: request.initiatedBy,
      tier: tierOf(starter),
      parent: null,
      depth: 0,
      root_execution_id: executionId,
      path: [],
      retry_of: earlierId,
      stimulus_id: null,
      volumes: mounts,
    },
    definition,
    input: earlier.input,
    overrides: {},
    resume: { blackboard: earlier.blackboard, outputs: earlier.outputs, state },
  };
  return { message, admission };
}

function unknownState(name: string): Problem {
  const path = "from_state";
  const issue = { path, message: `there is no state ${name}`, code: "unknown_state" };
  return new Problem("unknown_state", "The workflow has no such state", { issues: [issue] });
}
