/** The record of a run as clients read it, and its row in lists (docs/reference/workflows.md). Every key is always there. */

import { type Static, Type } from "@sinclair/typebox";
import { ShownStarter, shownStarter } from "../../../identity/starter.ts";
import { AnyJson, type Json, JsonObject } from "../../../kernel/json.ts";
import { Nullable, Text, Time } from "../../../kernel/schema.ts";
import { iso } from "../../../kernel/time.ts";
import { firstWait } from "../children/child-waits.ts";
import { placesOf } from "../places.ts";
import { Initiator, type RunState, RunStatus } from "../state.ts";
import type { Current } from "../work.ts";

export const WaitingFor = Type.Object({
  /** `approval`: of a Human state; `tool_call`: of an agent that a state started; the others: of a Wait. */
  kind: Type.Union([
    Type.Literal("approval"),
    Type.Literal("tool_call"),
    Type.Literal("time"),
    Type.Literal("signal"),
    Type.Literal("stimulus"),
  ]),
  /** Of `approval` and `tool_call`. */
  approval_id: Type.Optional(Text),
  state_name: Text,
  /** Null: it waits without an end. */
  expires_at: Nullable(Time),
});
export type WaitingFor = Static<typeof WaitingFor>;

export const ShownCompensation = Type.Object({
  status: Type.Union([Type.Literal("none"), Type.Literal("running"), Type.Literal("done"), Type.Literal("failed")]),
  /** What is not undone, in the order of its turn: the first one is at work, or is the one that failed. */
  remaining: Type.Array(Type.Object({ state_name: Text, of_state: Text, of_visit: Type.Integer({ minimum: 1 }) })),
});

export const RunElement = Type.Object({
  id: Text,
  execution_id: Text,
  workflow_id: Text,
  workflow_name: Text,
  workflow_version: Text,
  tenant_id: Text,
  status: RunStatus,
  current_state: Nullable(Text),
  /** What the run waits for; null when it is at work by itself, or over. */
  waiting_for: Nullable(WaitingFor),
  intent: Text,
  state_visits: Type.Record(Text, Type.Integer()),
  /** Entries into states. */
  transition_count: Type.Integer(),
  final_output: AnyJson,
  summary: Nullable(Text),
  error: Nullable(Text),
  error_code: Nullable(Text),
  started_at: Time,
  last_transition_at: Time,
  /** Null while it is live. */
  ended_at: Nullable(Time),
  deadline_at: Nullable(Time),
  paused_at: Nullable(Time),
  parent_execution_id: Nullable(Text),
  retry_of: Nullable(Text),
  forked_from: Nullable(Text),
  /** By `continue_as`: the runs before and after this one. */
  continued_from: Nullable(Text),
  continued_as: Nullable(Text),
  compensation: ShownCompensation,
  schedule_id: Nullable(Text),
  /** That binds its calls: the one that its workflow names, else the one of its start. */
  security_context: Nullable(Text),
  stimulus_id: Nullable(Text),
  initiated_by: Initiator,
  /** For whom the management tools of what it starts act; null: there are none. */
  starter: Nullable(ShownStarter),
  /** Security contexts that bind what it starts beside their own. */
  context_ceilings: Type.Array(Text),
  temporal_workflow_id: Text,
  temporal_run_id: Text,
});
export type RunElement = Static<typeof RunElement>;

export const RunRecord = Type.Composite([
  RunElement,
  Type.Object({
    input: AnyJson,
    attachments: Type.Array(AnyJson),
    blackboard: JsonObject,
    /** The last result of every state that has one. */
    state_outputs: Type.Record(Text, AnyJson),
    /** The first 50: what a person should know although the run goes on. */
    warnings: Type.Array(Type.Object({ code: Text, message: Text, state_name: Nullable(Text), at: Time })),
  }),
]);
export type RunRecord = Static<typeof RunRecord>;

/** The members of a run's state that lists show: none of the bulky ones. Stored apart from the others. */
export const listedMembers = [
  "header",
  "status",
  "started_at",
  "deadline_at",
  "paused_at",
  "last_transition_at",
  "current",
  "current_state",
  "visits",
  "transition_count",
  "ending",
  "compensation",
  "continued_as",
] as const satisfies readonly (keyof RunState)[];
export type ElementState = Pick<RunState, (typeof listedMembers)[number]>;

export interface Subject {
  readonly execution_id: string;
  readonly tenant_id: string;
}

/** What lists show of a run. */
export function runElement({ execution_id, tenant_id }: Subject, state: ElementState): RunElement {
  const { header, ending, compensation } = state;
  return {
    id: execution_id,
    execution_id,
    workflow_id: header.workflow_id,
    workflow_name: header.workflow_name,
    workflow_version: header.workflow_version,
    tenant_id,
    status: state.status,
    current_state: state.current_state,
    waiting_for: waitingFor(state.current),
    intent: header.intent,
    state_visits: state.visits,
    transition_count: state.transition_count,
    final_output: ending?.final_output ?? null,
    summary: ending?.summary ?? null,
    error: (ending ?? compensation?.end)?.error ?? null,
    error_code: (ending ?? compensation?.end)?.error_code ?? null,
    started_at: iso(state.started_at),
    last_transition_at: iso(state.last_transition_at),
    ended_at: isoOrNull(ending?.at ?? null),
    deadline_at: isoOrNull(state.deadline_at),
    paused_at: isoOrNull(state.paused_at),
    parent_execution_id: header.parent?.execution_id ?? null,
    retry_of: header.retry_of,
    forked_from: header.forked_from ?? null,
    continued_from: header.continued_from ?? null,
    continued_as: state.continued_as ?? null,
    compensation: shownCompensation(compensation),
    schedule_id: header.schedule_id ?? null,
    security_context: header.own_context ?? header.security_context,
    stimulus_id: header.stimulus_id,
    initiated_by: header.initiated_by,
    starter: shownStarter(header.starter),
    context_ceilings: header.context_ceilings ?? [],
    temporal_workflow_id: execution_id,
    temporal_run_id: execution_id,
  };
}

function shownCompensation(compensation: RunState["compensation"]): RunElement["compensation"] {
  if (compensation === undefined) return { status: "none", remaining: [] };
  const { status, remaining } = compensation;
  return {
    status,
    remaining: remaining.map(({ name, visit, by }) => ({ state_name: by, of_state: name, of_visit: visit })),
  };
}

/** The whole record. */
export function runRecord(subject: Subject, state: RunState): RunRecord {
  return {
    ...runElement(subject, state),
    input: state.input,
    attachments: state.header.attachments,
    blackboard: state.blackboard,
    state_outputs: stateOutputs(state),
    warnings: (state.warnings ?? []).map((warning) => ({ ...warning, at: iso(warning.at) })),
  };
}

/** The results on the blackboard, by state, in the order of their first ones. */
function stateOutputs({ outputs, blackboard }: Pick<RunState, "outputs" | "blackboard">): Record<string, Json> {
  return Object.fromEntries(outputs.map((name) => [name, blackboard[name] ?? null]));
}

/** What the run waits for; of several that whose time is up first. */
function waitingFor(current: Current | null): WaitingFor | null {
  const at = ({ expires_at }: WaitingFor): number => (expires_at === null ? Infinity : Date.parse(expires_at));
  const open = placesOf(current).flatMap(({ current }) => waitsOf(current));
  // As long as their times are the same, the one that has waited longest is the first.
  return open.toSorted((one, other) => (at(one) === at(other) ? 0 : at(one) - at(other)))[0] ?? null;
}

/** What the state at work at one place waits for; a Map for what its items do. A Branch waits for whom its lines wait for. */
function waitsOf(current: Current): readonly WaitingFor[] {
  const { name: state_name, work } = current;
  switch (work.of) {
    case "human":
      return [{ kind: "approval", approval_id: work.approval_id, state_name, expires_at: iso(work.expires_at) }];
    case "wait":
      return [{ kind: work.on, state_name, expires_at: isoOrNull(work.until) }];
    case "branch":
      return [];
    default: {
      const first = firstWait(current);
      const waits = work.of === "map" ? work.batches.flatMap(({ wait }) => wait ?? []) : [];
      return [
        ...waits.map(({ kind, expires_at }) => ({ kind, state_name, expires_at: isoOrNull(expires_at) })),
        ...(first === null
          ? []
          : [
              {
                kind: "tool_call" as const,
                approval_id: first.approval_id,
                state_name,
                expires_at: iso(first.expires_at),
              },
            ]),
      ];
    }
  }
}

const isoOrNull = (milliseconds: number | null): string | null => (milliseconds === null ? null : iso(milliseconds));
