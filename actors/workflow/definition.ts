/**
 * A workflow as the actor interprets it: a manifest that was judged, every default filled in, every duration in
 * milliseconds. It is part of the run's state, so that a run goes on with what it began with, also when
 * another version is registered later.
 */

import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../kernel/json.ts";
import { Milliseconds, Nullable } from "../kernel/schema.ts";
import { BranchState, MapState } from "./definition/composed-states.ts";
import { FleetState, HttpState, ToolState, WaitState } from "./definition/outside-states.ts";
import { oneOf, Template } from "./definition/parts.ts";
import {
  AgentState,
  ContainerRunState,
  HumanState,
  ParallelAgentsState,
  ParallelContainerRunState,
  SubworkflowState,
  SystemState,
} from "./definition/states.ts";

export const State = Type.Union([
  AgentState,
  SystemState,
  HumanState,
  ParallelAgentsState,
  ContainerRunState,
  ParallelContainerRunState,
  SubworkflowState,
  WaitState,
  MapState,
  BranchState,
  ToolState,
  FleetState,
  HttpState,
]);
export type State = Static<typeof State>;
export type StateKind = State["kind"];

/** Starts of the latest version by the clock, for who deployed it. */
export const Schedule = Type.Object({
  name: Type.String(),
  when: Type.Union([
    /** Five fields. */
    Type.Object({ cron: Type.String() }),
    Type.Object({ every_ms: Type.Integer({ minimum: 60_000 }) }),
  ]),
  /** IANA. */
  timezone: Type.String(),
  /** Each start comes up to so much later. */
  jitter_ms: Type.Integer({ minimum: 0, maximum: 3_600_000 }),
  input: AnyJson,
  /** While the former run lives. */
  overlap: oneOf("skip", "queue", "allow", "cancel_previous"),
  /** Of the times missed within the window. */
  catch_up: oneOf("none", "last", "all"),
  catch_up_window_ms: Milliseconds,
});
export type Schedule = Static<typeof Schedule>;

const Workspace = Type.Object({
  storage_class: oneOf("ephemeral", "persistent"),
  ttl_ms: Milliseconds,
  size_limit_bytes: Type.Integer(),
  /** A volume of the tenant to work in. */
  volume_id: Nullable(Type.String()),
  blackboard_key: Type.String(),
});

export const Definition = Type.Object({
  name: Type.String(),
  version: Type.String(),
  input_schema: AnyJson,
  output_schema: AnyJson,
  /** Null: `final_output` is null. */
  output_template: Nullable(Type.Record(Type.String(), Template)),
  /** `spec.context`. */
  context: Type.Record(Type.String(), AnyJson),
  initial_state: Type.String(),
  max_total_transitions: Type.Integer({ minimum: 1, maximum: 100 }),
  /** A template that prints what does not exist fails its state; absent in what was registered before there was a choice. */
  strict_templates: Type.Optional(Type.Boolean()),
  storage: Type.Object({
    workspace: Nullable(Workspace),
    shared_volumes: Type.Array(
      Type.Object({
        name: Type.String(),
        storage_class: oneOf("ephemeral", "persistent"),
        size_limit_bytes: Nullable(Type.Integer()),
      }),
    ),
  }),
  /** Those of branches among them. */
  states: Type.Record(Type.String(), State),
  /** Binds the tool and fleet calls of its states; absent: the start's, else the default one. */
  security_context: Type.Optional(Type.String()),
  /** Ends of a run whose compensations are due; absent: `failed`. */
  compensate_on: Type.Optional(Type.Array(oneOf("failed", "cancelled", "timed_out"))),
  schedules: Type.Optional(Type.Array(Schedule)),
});
export type Definition = Static<typeof Definition>;
