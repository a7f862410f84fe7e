/**
 * The events of an execution, as stored and as streamed.
 *
 * A stored event is an object with one key, its name. Members that start with `_` are for the record
 * alone and never leave on a stream. Later features add their event here and nowhere else.
 */

import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { defineLog } from "../kernel/effect.ts";
import { AnyJson, type Json, JsonObject } from "../kernel/json.ts";
import { Nullable, Text } from "../kernel/schema.ts";
import { ToolCall } from "./activities.ts";
import { ValidationResult } from "./judging/validator-result.ts";

const TextOrNull = Nullable(Text);
const Count = Type.Number();
const Exit = Nullable(Type.Integer());
const Fault = Type.Object({ code: Text, message: Text, details: AnyJson });
export type Fault = Static<typeof Fault>;

export const CallStatus = Type.Union([
  Type.Literal("succeeded"),
  Type.Literal("failed"),
  Type.Literal("refused"),
  Type.Literal("timed_out"),
]);
export type CallStatus = Static<typeof CallStatus>;

const body = <P extends TProperties>(fields: P) => Type.Object(fields);
/** For everything that happens within an iteration. */
const within = <P extends TProperties>(fields: P) => Type.Object({ iteration_number: Type.Integer(), ...fields });

/** From the start to the end, ms; events of earlier versions have it not. */
const took = { _took_ms: Type.Optional(Count) };

const asked = { tool_name: Text, call_id: Text, approval_id: TextOrNull, code: TextOrNull, at: Text };

/** Every event with its further fields; `execution_id` and `agent_id` stand in each body besides. */
export const eventFields = {
  execution_started: body({ started_at: Text }),
  iteration_started: within({ action: Text, started_at: Text }),
  iteration_completed: within({ output: Text, completed_at: Text, _stderr: Text, _exit_code: Exit }),
  iteration_rejected: within({
    validator: Text,
    score: Count,
    confidence: Count,
    feedback: TextOrNull,
    rejected_at: Text,
  }),
  iteration_failed: within({ error: Fault, failed_at: Text, _stderr: Text, _exit_code: Exit }),
  iteration_restarted: within({ attempt: Type.Integer(), reason: Text, restarted_at: Text }),
  refinement_applied: within({ feedback: Text, code_diff: JsonObject, applied_at: Text }),
  console_output: within({
    stream: Type.Union([Type.Literal("stdout"), Type.Literal("stderr")]),
    content: Text,
    timestamp: Text,
    /** Of the tool call whose command wrote it; null: the agent's own output. */
    call_id: TextOrNull,
    /** There was more than the bound of a second, or of the iteration, let through. */
    truncated: Type.Optional(Type.Literal(true)),
  }),
  llm_interaction: within({
    provider: Text,
    model: Text,
    input_tokens: Count,
    output_tokens: Count,
    prompt: TextOrNull,
    response: TextOrNull,
    timestamp: Text,
    _tool_calls: Type.Array(ToolCall),
  }),
  llm_call_failed: within({
    provider: Text,
    model: Text,
    error_class: Text,
    message: Text,
    attempts: Count,
    elapsed_ms: Count,
    fallback_attempted: Type.Boolean(),
    timestamp: Text,
  }),
  /** Most of a window of a rate is used up; told once for each window. */
  rate_limit_warning: body({ resource_type: Text, bucket: Text, scope_type: Text, limit: Count, timestamp: Text }),
  tool_call_started: within({
    tool_name: Text,
    call_id: Text,
    started_at: Text,
    _dispatched: Type.Boolean(),
    _arguments: AnyJson,
  }),
  tool_call_completed: within({
    tool_name: Text,
    call_id: Text,
    status: CallStatus,
    /** Of a command that came to one; null for every other call. */
    exit_code: Exit,
    duration_ms: Count,
    completed_at: Text,
    _result: AnyJson,
    _error: TextOrNull,
  }),
  /** People are asked about a call, and what came of it; `code`: why it will not run. */
  tool_call_waiting: within(asked),
  tool_call_approved: within(asked),
  tool_call_rejected: within(asked),
  tool_call_withdrawn: within(asked),
  policy_violation: within({ tool_name: Text, violation_type: Text, details: AnyJson, blocked_at: Text }),
  /** What a warning of the record says, when it is added. */
  execution_warning: body({ code: Text, message: Text, at: Text }),
  egress_blocked: within({ host: Text, port: Type.Integer(), reason: Text, blocked_at: Text }),
  image_pull_started: body({ image: Text, timestamp: Text }),
  image_pull_completed: body({ image: Text, timestamp: Text, duration_ms: Count }),
  image_pull_failed: body({ image: Text, timestamp: Text, error: Text }),
  instance_spawned: within({ instance_id: Text, spawned_at: Text }),
  instance_terminated: within({ instance_id: Text, terminated_at: Text, exit_code: Exit }),
  gradient_validation_performed: within({
    validator: Text,
    score: Count,
    confidence: Count,
    validated_at: Text,
    _result: ValidationResult,
  }),
  child_execution_spawned: body({
    parent_execution_id: Text,
    child_execution_id: Text,
    child_agent_id: Text,
    spawned_at: Text,
  }),
  child_execution_completed: body({ child_execution_id: Text, outcome: Text, completed_at: Text }),
  multi_judge_consensus: within({
    judge_scores: Type.Array(Type.Tuple([Text, Count])),
    final_score: Count,
    confidence: Count,
    reached_at: Text,
  }),
  output_handler_started: body({ handler_type: Text, timestamp: Text }),
  output_handler_completed: body({ handler_type: Text, timestamp: Text, result: Text }),
  output_handler_failed: body({ handler_type: Text, timestamp: Text, error: Text }),
  execution_completed: body({ final_output: Text, total_iterations: Count, completed_at: Text, ...took }),
  execution_failed: body({ reason: Text, error_code: Text, total_iterations: Count, failed_at: Text, ...took }),
  execution_cancelled: body({ reason: TextOrNull, cancelled_at: Text, ...took }),
  execution_timed_out: body({ timeout_seconds: Count, total_iterations: Count, timed_out_at: Text, ...took }),
};

export type EventName = keyof typeof eventFields;
export type EventFields<N extends EventName> = Static<(typeof eventFields)[N]>;

/** An event as the reader of a log gets it. */
export type StoredEvent = {
  readonly [N in EventName]: { readonly name: N; readonly fields: EventFields<N> };
}[EventName];

const terminalEvents: readonly EventName[] = [
  "execution_completed",
  "execution_failed",
  "execution_cancelled",
  "execution_timed_out",
];

/** Builds the stored form of an event. */
export function eventOf<N extends EventName>(
  name: N,
  subject: { readonly execution_id: string; readonly agent_id: string },
  fields: EventFields<N>,
): Json {
  return { [name]: { ...subject, ...(fields as { readonly [member: string]: Json }) } };
}

/** The log of events, in their stored form. */
export const executionEvents = defineLog("events", AnyJson);

/** The name of a stored event; "" for what is none. */
export function eventName(entry: Json): string {
  return entry !== null && typeof entry === "object" ? (Object.keys(entry)[0] ?? "") : "";
}

/** Reads a stored event back; null for one this version does not know. */
export function readEvent(entry: Json): StoredEvent | null {
  const name = eventName(entry);
  if (!Object.hasOwn(eventFields, name)) return null;
  // Only `eventOf` writes the log, so the name vouches for the fields.
  return { name, fields: (entry as Record<string, unknown>)[name] } as StoredEvent;
}

export function isTerminal(entry: Json): boolean {
  return (terminalEvents as readonly string[]).includes(eventName(entry));
}

/** Members that only readers with `execution:logs` who ask for them see, under the name they are shown by. */
export const verboseMembers: { readonly [event: string]: { readonly [member: string]: string } } = {
  tool_call_started: { _arguments: "arguments" },
  tool_call_completed: { _result: "result" },
};

/**
 * An event as a stream carries it.
 * @param verbose whether the reader may see prompts, responses, and the arguments and results of tool calls
 */
export function wireEvent(entry: Json, verbose: boolean): Json {
  const name = eventName(entry);
  const stored = (entry as { readonly [name: string]: { readonly [member: string]: Json } })[name] ?? {};
  const shown = verbose ? verboseMembers[name] : undefined;
  const members = Object.entries(stored).flatMap(([member, value]): [string, Json][] => {
    const verboseName = shown?.[member];
    if (verboseName !== undefined) return [[verboseName, value]];
    if (member.startsWith("_")) return [];
    return [[member, !verbose && (member === "prompt" || member === "response") ? null : value]];
  });
  return { [name]: Object.fromEntries(members) };
}
