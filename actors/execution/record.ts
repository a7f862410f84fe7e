/**
 * The record of an execution as clients read it: a pure fold of its state, its plan and its events.
 *
 * Lists are made from the state alone, so they need neither logs nor events.
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { Json } from "../actor.ts";
import { AnyJson } from "../json.ts";
import { readEvent, type StoredEvent } from "./events.ts";
import { foldIterations, IterationRecord } from "./iteration-record.ts";
import { iso } from "./life.ts";
import { Status } from "./messages.ts";
import { Hierarchy, Mode, type Plan, RuntimeFacts, Trigger, Volume, Warning } from "./plan.ts";
import { type ExecutionState, iterationsBegun } from "./state.ts";

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Text = Type.String();
const Time = Type.String({ format: "date-time" });

export const ExecutionElement = Type.Object({
  execution_id: Text,
  id: Text,
  agent_id: Text,
  agent_name: Text,
  agent_version: Text,
  agent_revision: Type.Integer(),
  tenant_id: Text,
  status: Status,
  mode: Mode,
  intent: Nullable(Text),
  error: Nullable(Text),
  error_code: Nullable(Text),
  summary: Text,
  current_iteration: Type.Integer(),
  total_iterations: Type.Integer(),
  max_iterations: Type.Integer(),
  timeout_seconds: Type.Number(),
  trigger: Trigger,
  workflow_name: Nullable(Text),
  workflow_execution_id: Nullable(Text),
  hierarchy: Hierarchy,
  security_context: Nullable(Text),
  initiating_user_sub: Nullable(Text),
  labels: Type.Record(Text, Text),
  usage: Type.Object({
    llm_calls: Type.Integer(),
    input_tokens: Type.Number(),
    output_tokens: Type.Number(),
    tool_calls: Type.Integer(),
    cost_usd: Type.Number(),
  }),
  runtime: RuntimeFacts,
  volumes: Type.Array(Volume),
  warnings: Type.Array(Warning),
  created_at: Time,
  /** Never null: equals created_at while pending. */
  started_at: Time,
  deadline_at: Nullable(Time),
  ended_at: Nullable(Time),
});
export type ExecutionElement = Static<typeof ExecutionElement>;

export const ExecutionRecord = Type.Composite([
  ExecutionElement,
  Type.Object({
    input: AnyJson,
    context_overrides: AnyJson,
    attachments: Type.Array(AnyJson),
    /** After the output handler. */
    output: Nullable(Text),
    final_output: Nullable(Text),
    raw_output: Nullable(Text),
    iterations: Type.Array(IterationRecord),
  }),
]);
export type ExecutionRecord = Static<typeof ExecutionRecord>;

export interface Subject {
  readonly execution_id: string;
  readonly tenant_id: string;
}

/** What lists show of an execution. */
export function executionElement({ execution_id, tenant_id }: Subject, state: ExecutionState): ExecutionElement {
  const { header, ending } = state;
  const begun = iterationsBegun(state);
  return {
    execution_id,
    id: execution_id,
    agent_id: header.agent_id,
    agent_name: header.agent_name,
    agent_version: header.agent_version,
    agent_revision: header.agent_revision,
    tenant_id,
    status: state.status,
    mode: header.mode,
    intent: header.intent,
    error: ending?.error ?? null,
    error_code: ending?.error_code ?? null,
    summary: ending?.summary ?? "",
    current_iteration: begun,
    total_iterations: begun,
    max_iterations: header.max_iterations,
    timeout_seconds: header.timeout_ms / 1000,
    trigger: header.trigger,
    workflow_name: header.workflow_name,
    workflow_execution_id: header.workflow_execution_id,
    hierarchy: header.hierarchy,
    security_context: header.security_context,
    initiating_user_sub: header.initiating_user_sub,
    labels: header.labels,
    usage: state.usage,
    runtime: header.runtime,
    volumes: header.volumes,
    warnings: header.warnings,
    created_at: iso(state.created_at),
    started_at: iso(state.started_at ?? state.created_at),
    deadline_at: state.deadline_at === null ? null : iso(state.deadline_at),
    ended_at: ending === null ? null : iso(ending.at),
  };
}

/**
 * The whole record.
 * @param events  the stored entries of the log `events`, oldest first
 * @param prompts whether the reader may see prompts and responses
 */
export function executionRecord(
  subject: Subject,
  state: ExecutionState,
  plan: Plan,
  events: readonly Json[],
  prompts: boolean,
): ExecutionRecord {
  const known = events.map(readEvent).filter((event): event is StoredEvent => event !== null);
  const last = known.at(-1);
  const output = last?.name === "execution_completed" ? last.fields.final_output : null;
  return {
    ...executionElement(subject, state),
    input: plan.input,
    context_overrides: plan.context_overrides,
    attachments: plan.attachments,
    output,
    final_output: output,
    raw_output: output,
    iterations: foldIterations(known, prompts),
  };
}

/** The iterations alone, as `GET …/iterations` shows them. */
export function iterationRecords(events: readonly Json[], prompts: boolean): IterationRecord[] {
  const known = events.map(readEvent).filter((event): event is StoredEvent => event !== null);
  return foldIterations(known, prompts);
}
