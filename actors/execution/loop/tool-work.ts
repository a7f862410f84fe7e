/** What the activities of a call are told: where its arguments are, and how far it has come. */
import type { ToolCallInput } from "../activities.ts";
import { loopLog } from "../messages.ts";
import type { PendingCall } from "../state.ts";
import type { ExecutionTurn } from "../turn.ts";
import { isApproved } from "./waiting/wait-state.ts";

export function inputOf(turn: ExecutionTurn, call: PendingCall): ToolCallInput {
  const edited = call.wait?.edited ?? null;
  return {
    execution_id: turn.executionId,
    iteration: turn.iteration.number,
    instance_id: turn.iteration.instance_id,
    log: loopLog(turn.iteration.instance_id).name,
    seq: call.seq,
    call_id: call.call_id,
    tool: call.tool,
    repeatable: call.read_only,
    ...(call.clearance === undefined ? {} : { invocation_id: call.clearance.invocation_id }),
    ...(edited === null ? {} : { edited }),
    ...(isApproved(call) ? { approved: true as const } : {}),
  };
}
