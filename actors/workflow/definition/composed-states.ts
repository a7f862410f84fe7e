/** The states that hold other states: one for each item of a list, or side by side. */
import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../../kernel/json.ts";
import { FleetState, HttpState, ToolState, WaitState } from "./outside-states.ts";
import { common } from "./parts.ts";
import {
  AgentState,
  ContainerRunState,
  ParallelAgentsState,
  ParallelContainerRunState,
  SubworkflowState,
  SystemState,
} from "./states.ts";

export const BranchState = Type.Object({
  kind: Type.Literal("Branch"),
  ...common,
  /** Their states stand among those of the definition and name their branch. */
  branches: Type.Array(Type.Object({ name: Type.String(), initial_state: Type.String() }), {
    minItems: 2,
    maxItems: 20,
  }),
  /** How many branches must succeed. */
  join: Type.Integer({ minimum: 1, maximum: 20 }),
});
export type BranchState = Static<typeof BranchState>;

/** Items of one Map. */
export const maxItems = 10_000;

/** What a Map does for each item: any kind but Map, Branch and Human. */
export const ItemState = Type.Union([
  AgentState,
  SystemState,
  ParallelAgentsState,
  ContainerRunState,
  ParallelContainerRunState,
  SubworkflowState,
  WaitState,
  ToolState,
  FleetState,
  HttpState,
]);
export type ItemState = Static<typeof ItemState>;

export const MapState = Type.Object({
  kind: Type.Literal("Map"),
  ...common,
  /** A list, whose texts are templates, or a template whose text is a JSON list. */
  items: AnyJson,
  /** A `workflow` of the manifest is a blocking Subworkflow state here. It has no transitions. */
  item: ItemState,
  as: Type.String(),
  concurrency: Type.Integer({ minimum: 1, maximum: 100 }),
  /** Items that share one child record. */
  batch: Type.Integer({ minimum: 1, maximum: 1000 }),
  /** How many items may fail. */
  tolerate: Type.Union([
    Type.Object({ count: Type.Integer({ minimum: 0 }) }),
    Type.Object({ percent: Type.Number({ minimum: 0, maximum: 100 }) }),
  ]),
});
export type MapState = Static<typeof MapState>;
