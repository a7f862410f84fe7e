/** How the calls of a model reply are answered and told: one tool message for the model, one pair of events each. */

import type { Json } from "../../kernel/json.ts";
import type { FailedCall, JudgedCall, RefusedCall } from "../../policy/security/clearance.ts";
import { keptArgumentBytes } from "../../tool/invocation.ts";
import type { ToolAnswer, ToolCall } from "../activities.ts";
import type { CallStatus } from "../events.ts";
import type { Loop, PendingCall } from "../state.ts";
import { trimText } from "../trim.ts";
import type { ExecutionTurn } from "../turn.ts";
import { noteOnRecord, type RecordedCall, resultAt } from "./on-record.ts";

export type Result = { readonly [member: string]: Json };

/** Longest result kept for the record, and all of an iteration's together: a record has to fit into one answer. */
const keptResultBytes = 1_048_576;
const keptPerIteration = 4_194_304;
/** What is kept of a result when the iteration has used up its share. */
const alwaysKeptBytes = 2048;

/** Arguments as the state keeps them for the events, until the call begins. */
export const keptArguments = (given: Result): string => trimText(JSON.stringify(given), keptArgumentBytes);

export const discourage = (message: string): string => `${message}. Do not repeat this call.`;

export function failure(tool: string, code: string, message: string): Result {
  return { status: "error", isError: true, tool, error: message, code, message };
}

/** Arguments as the events show them; what was cut is no JSON any more and stands as text. */
export function shownArguments(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return { trimmed: text };
  }
}

/** Whether the work of the iteration was ended by a deadline. */
export function isTimeUp({ state, iteration, context }: ExecutionTurn): boolean {
  return state.status === "timed_out" || (iteration.deadline_at !== null && context.now >= iteration.deadline_at);
}

export type EndedCall = Pick<PendingCall, "call_id" | "tool" | "started_at"> &
  RecordedCall & {
    /** It has not begun. */
    readonly ran?: false;
  };

/**
 * A call that ends without having run.
 * @param given its arguments, or their JSON text as the state keeps it
 * @param judged what policy said of it; of a call that the state has, its own
 */
export function startedNow(
  turn: ExecutionTurn,
  callId: string,
  tool: string,
  given: Result | string,
  judged?: JudgedCall,
): EndedCall {
  const pending = turn.iteration.loop?.calls.find(({ call_id }) => call_id === callId);
  const clearance = judged ?? pending?.clearance;
  const text = typeof given === "string" ? given : keptArguments(given);
  if (pending?.begun !== true) {
    turn.emit("tool_call_started", {
      iteration_number: turn.iteration.number,
      tool_name: tool,
      call_id: callId,
      started_at: turn.at,
      _dispatched: false,
      _arguments: shownArguments(text),
    });
  }
  return {
    call_id: callId,
    tool,
    started_at: turn.context.now,
    ran: false,
    shown_arguments: text,
    ...(clearance === undefined ? {} : { clearance }),
    ...(pending?.on_record === true ? { on_record: true as const } : {}),
  };
}

export function noteViolation(turn: ExecutionTurn, tool: string, violationType: string, details: Result): void {
  turn.emit("policy_violation", {
    iteration_number: turn.iteration.number,
    tool_name: tool,
    violation_type: violationType,
    details,
    blocked_at: turn.at,
  });
}

interface CallEnd {
  readonly error: string | null;
  /** What the record keeps where it is not what the model is told. */
  readonly kept?: Result;
  /** Of a command that came to one. */
  readonly exitCode?: number | null;
  /** Of a refusal. */
  readonly violation?: string;
}

export function answerCall(
  turn: ExecutionTurn,
  loop: Loop,
  call: EndedCall,
  status: CallStatus,
  result: Result,
  { error, kept = result, exitCode = null, violation }: CallEnd,
): void {
  const content = trimText(JSON.stringify(result), turn.state.header.bounds.tool_message_bytes);
  const seq = turn.record({ entry: "message", message: { role: "tool", tool_call_id: call.call_id, content } });
  const result_bytes = noteCompleted(turn, call, status, kept, { error, exitCode });
  const ended = {
    outcome: status === "succeeded" ? ("success" as const) : ("failed" as const),
    ...(typeof result.code === "string" ? { code: result.code } : status === "timed_out" ? { code: status } : {}),
    ...(violation === undefined ? {} : { violation_type: violation }),
    ...(status === "refused" ? { decision: "deny" as const } : {}),
    duration_ms: turn.context.now - (call.started_at ?? turn.context.now),
    result_bytes,
    ...(call.ran === false || status === "refused" ? {} : { ran: true as const }),
    ...resultAt(turn, seq),
  };
  noteOnRecord(turn, call, ended, status === "refused" ? "deny" : "allow");
  loop.calls = loop.calls.filter(({ call_id }) => call_id !== call.call_id);
}

/** Answers a call with what became of it. @param more of the tool message beside */
export function answerEnded(turn: ExecutionTurn, loop: Loop, call: EndedCall, ended: ToolAnswer, more: Result): void {
  const { tool } = call;
  if (ended.status === "succeeded") {
    answerCall(turn, loop, call, "succeeded", { ...ended.result, ...more }, { error: null });
    return;
  }
  const { code, message } = ended;
  if (ended.status === "failed") {
    const details = ended.details === undefined ? {} : { details: ended.details };
    answerCall(
      turn,
      loop,
      call,
      "failed",
      { ...failure(tool, code, message), ...details, ...more },
      { error: message },
    );
    return;
  }
  const { error_code, violation_type, attempted, retry_after_seconds } = ended;
  noteViolation(turn, tool, violation_type, { code, error_code, attempted });
  const advice = retry_after_seconds === undefined ? {} : { retry_after_seconds };
  const result = { ...failure(tool, code, discourage(message)), error_code, ...advice };
  answerCall(turn, loop, call, "refused", result, { error: message, violation: violation_type });
}

/** @returns bytes of the whole result */
export function noteCompleted(
  turn: ExecutionTurn,
  call: EndedCall,
  status: CallStatus,
  result: Result,
  { error, exitCode = null }: Pick<CallEnd, "error" | "exitCode">,
): number {
  const text = JSON.stringify(result);
  const left = Math.max(alwaysKeptBytes, keptPerIteration - turn.iteration.recorded);
  const room = Math.min(keptResultBytes, left);
  turn.iteration.recorded += Math.min(text.length, room);
  turn.emit("tool_call_completed", {
    iteration_number: turn.iteration.number,
    tool_name: call.tool,
    call_id: call.call_id,
    status,
    exit_code: exitCode,
    duration_ms: turn.context.now - (call.started_at ?? turn.context.now),
    completed_at: turn.at,
    _result: text.length > room ? { trimmed: trimText(text, room) } : result,
    _error: error,
  });
  return Buffer.byteLength(text);
}

/** Not among the effective tools (2000). */
export function refuseUnlisted(turn: ExecutionTurn, loop: Loop, { id, name, arguments: given }: ToolCall): void {
  const code = "tool_not_allowed";
  const message = `${name} is not among this agent's tools`;
  const call = startedNow(turn, id, name, given);
  noteViolation(turn, name, code, { code, error_code: 2000, attempted: name });
  const result = { ...failure(name, code, discourage(message)), error_code: 2000 };
  answerCall(turn, loop, call, "refused", result, { error: message });
}

/** Policy forbids it. */
export function refuseByPolicy(turn: ExecutionTurn, loop: Loop, call: ToolCall, refused: RefusedCall): void {
  const { tool, code, error_code, violation_type, message, attempted, details } = refused;
  const begun = startedNow(turn, call.id, tool, call.arguments, refused);
  noteViolation(turn, tool, violation_type, { ...details, code, error_code, attempted });
  const { retry_after_seconds, limit_source } = details;
  const advice = {
    ...(retry_after_seconds === undefined ? {} : { retry_after_seconds }),
    ...(limit_source === undefined ? {} : { limit_source }),
  };
  const result = { ...failure(tool, code, discourage(message)), error_code, ...advice };
  answerCall(turn, loop, begun, "refused", result, { error: message, violation: violation_type });
}

/** It cannot be a call of that tool. */
export function failByPolicy(turn: ExecutionTurn, loop: Loop, call: ToolCall, failed: FailedCall): void {
  const { tool, code, message, issues } = failed;
  const begun = startedNow(turn, call.id, tool, call.arguments, failed);
  const result = { ...failure(tool, code, message), ...(issues === undefined ? {} : { issues }) };
  answerCall(turn, loop, begun, "failed", result, { error: message });
}

/** Its arguments do not fit. */
export function misused(
  turn: ExecutionTurn,
  loop: Loop,
  { id, name, arguments: given }: ToolCall,
  message: string,
  issues: readonly object[],
  judged?: JudgedCall,
): void {
  const call = startedNow(turn, id, name, given, judged);
  const result = { ...failure(name, "invalid_arguments", message), issues: issues as readonly Result[] };
  answerCall(turn, loop, call, "failed", result, { error: message });
}
