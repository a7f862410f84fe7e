/**
 * The record of an execution as clients read it: a pure fold of its state, its plan and its events.
 *
 * Lists are made from the state alone, so they need neither logs nor events.
 */

import { type Static, Type } from "@sinclair/typebox";
import { ShownStarter, shownStarter } from "../../identity/starter.ts";
import { AnyJson, type Json } from "../../kernel/json.ts";
import { Nullable, Text, Time } from "../../kernel/schema.ts";
import { iso } from "../../kernel/time.ts";
import { readEvent } from "../events.ts";
import { deadlineAt } from "../loop/waiting/clocks.ts";
import { Status } from "../messages.ts";
import { Hierarchy, Mode, type Plan, RuntimeFacts, Trigger, Volume, Warning } from "../start/plan.ts";
import type { ExecutionState, ListedExecution } from "../state.ts";
import { IterationFold, IterationRecord } from "./iteration-record.ts";

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
  /** For whom its management tools act; null: there are none. */
  starter: Nullable(ShownStarter),
  /** Security contexts that bind it beside its own. */
  context_ceilings: Type.Array(Text),
  /** The execution that this one repeats. */
  retry_of: Nullable(Text),
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
  /** Moves along while its tool calls wait for people. */
  deadline_at: Nullable(Time),
  /** The open approval of a tool call that ends first; null: none is open. */
  waiting_for: Nullable(
    Type.Object({ kind: Type.Literal("tool_call"), approval_id: Text, tool: Text, expires_at: Time }),
  ),
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
  /** When it is read, Unix ms: a deadline that stands still moves along. Absent: of one that is over. */
  readonly now?: number;
}

/** What lists show of an execution. */
export function executionElement(
  { execution_id, tenant_id, now = 0 }: Subject,
  state: ListedExecution,
): ExecutionElement {
  const { header, ending, iterations_begun } = state;
  const first = state.waiting?.for ?? null;
  const deadline = ending === null ? deadlineAt(state, now) : state.deadline_at;
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
    current_iteration: iterations_begun,
    total_iterations: iterations_begun,
    max_iterations: header.max_iterations,
    timeout_seconds: header.timeout_ms / 1000,
    trigger: header.trigger,
    workflow_name: header.workflow_name,
    workflow_execution_id: header.workflow_execution_id,
    hierarchy: header.hierarchy,
    security_context: header.security_context,
    initiating_user_sub: header.initiating_user_sub,
    starter: shownStarter(header.starter),
    context_ceilings: header.context_ceilings ?? [],
    retry_of: header.retry_of,
    labels: header.labels,
    usage: state.usage,
    runtime: header.runtime,
    volumes: header.volumes,
    warnings: header.warnings,
    created_at: iso(state.created_at),
    started_at: iso(state.started_at ?? state.created_at),
    deadline_at: deadline === null ? null : iso(deadline),
    waiting_for: first === null ? null : { kind: "tool_call", ...first, expires_at: iso(first.expires_at) },
    ended_at: ending === null ? null : iso(ending.at),
  };
}

/** What a record takes from the events. They come piece by piece, and of each only what records show is kept. */
export class EventFold {
  private readonly told: IterationFold;
  private output: string | null = null;
  /** Of the latest iteration that had one. */
  private produced: string | null = null;
  private isHandled = false;

  /** @param prompts whether the reader may see prompts and responses */
  constructor(prompts: boolean) {
    this.told = new IterationFold(prompts);
  }

  /** @param entries of the log `events`, in its order */
  add(entries: readonly Json[]): this {
    for (const entry of entries) {
      const event = readEvent(entry);
      if (event === null) continue;
      this.told.add(event);
      if (event.name === "iteration_completed") this.produced = event.fields.output;
      if (event.name === "output_handler_started") this.isHandled = true;
      if (event.name === "execution_completed") this.output = event.fields.final_output;
    }
    return this;
  }

  iterations(): IterationRecord[] {
    return this.told.records();
  }

  /** The whole record. */
  record(subject: Subject, state: ExecutionState, plan: Plan): ExecutionRecord {
    return {
      ...executionElement(subject, state),
      input: plan.input,
      context_overrides: plan.context_overrides,
      attachments: plan.attachments,
      output: this.output,
      final_output: this.output,
      // As it was before its handler.
      raw_output: this.isHandled ? this.produced : this.output,
      iterations: this.iterations(),
    };
  }
}

/** The whole record, from all events at once. */
export function executionRecord(
  subject: Subject,
  state: ExecutionState,
  plan: Plan,
  events: readonly Json[],
  prompts: boolean,
): ExecutionRecord {
  return new EventFold(prompts).add(events).record(subject, state, plan);
}

/** The iterations alone, as `GET …/iterations` shows them. */
export function iterationRecords(events: readonly Json[], prompts: boolean): IterationRecord[] {
  return new EventFold(prompts).add(events).iterations();
}
