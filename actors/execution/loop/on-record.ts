/** The records of a loop's calls: begun and ended in the commits of the turns that begin and end the calls. */
import type { JudgedCall } from "../../policy/security/clearance.ts";
import { type InvocationBegin, type InvocationChange, invocationFact } from "../../tool/invocation.ts";
import { usageFact } from "../../usage/activity.ts";
import { loopLog } from "../messages.ts";
import type { PendingCall } from "../state.ts";
import type { ExecutionTurn } from "../turn.ts";

/** A call as its record knows it. One of an answer of an earlier version has no clearance, and no record. */
export type RecordedCall = Pick<PendingCall, "shown_arguments"> & {
  readonly clearance?: JudgedCall;
  on_record?: true;
};

/** Puts on record what becomes of a call, with its beginning where that is not there yet. */
export function noteOnRecord(
  turn: ExecutionTurn,
  call: RecordedCall,
  change: InvocationChange,
  decision: InvocationBegin["decision"] = "allow",
): void {
  const { clearance } = call;
  if (clearance === undefined) return;
  const begin = call.on_record === true ? {} : { begin: beginOf(turn, call, clearance, decision) };
  turn.fact(invocationFact, { id: clearance.invocation_id, ...begin, change });
  call.on_record = true;
  if (change.ran === true) {
    const { agent_id, workflow_name: workflow } = turn.state.header;
    const { invocation_id: id, tool } = clearance;
    turn.fact(usageFact, { kind: "tool_call", id, agent_id, model: null, workflow, tool });
  }
}

/** Where the log has the tool message of a call. @param seq of the entry */
export const resultAt = (turn: ExecutionTurn, seq: number) => ({
  result_log: loopLog(turn.iteration.instance_id).name,
  result_seq: seq,
});

function beginOf(
  turn: ExecutionTurn,
  { shown_arguments }: RecordedCall,
  { tool, arguments_sha256, context, context_version, capability_index }: JudgedCall,
  decision: InvocationBegin["decision"],
): InvocationBegin {
  return {
    execution_id: turn.executionId,
    iteration_number: turn.iteration.number,
    agent_id: turn.state.header.agent_id,
    workflow_name: turn.state.header.workflow_name,
    session_id: null,
    principal: turn.executionId,
    entry: "dispatch",
    tool_name: tool,
    arguments: shown_arguments,
    arguments_sha256: arguments_sha256 ?? null,
    decision,
    security_context: context,
    context_version,
    capability_index,
    request_id: null,
  };
}
