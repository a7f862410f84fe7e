/** What tenants use, as turns put it on record: one activity each, in the commit that stores its outcome. */
import { type Static, Type } from "@sinclair/typebox";
import { defineFact } from "../kernel/effect.ts";
import { Nullable, Text } from "../kernel/schema.ts";

export const activityKinds = ["execution", "model_call", "tool_call", "instance", "host_command"] as const;
export type ActivityKind = (typeof activityKinds)[number];

/** What an activity counts for, where it has it. */
const Dimensions = {
  agent_id: Nullable(Text),
  /** The alias that was asked for. */
  model: Nullable(Text),
  /** Name of the workflow that it belongs to. */
  workflow: Nullable(Text),
  tool: Nullable(Text),
};

/** An activity that has ended. Stated again under the same kind, id and place it counts once. */
export const usageFact = defineFact(
  "usage_activity",
  Type.Object({
    kind: Type.Union(activityKinds.map((kind) => Type.Literal(kind))),
    /** A UUID. */
    id: Text,
    /** Of a model call: its number within the exchange that `id` names; absent: 0. */
    place: Type.Optional(Type.Integer({ minimum: 0 })),
    ...Dimensions,
    /** Of a model call: tokens as its rate was charged with them, and what they cost in the unit of the configuration. */
    input_tokens: Type.Optional(Type.Integer({ minimum: 0 })),
    output_tokens: Type.Optional(Type.Integer({ minimum: 0 })),
    cost: Type.Optional(Type.Number({ minimum: 0 })),
    /** Of an instance: how long it ran, ms, without the time for which it stood still. */
    duration_ms: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
);
export type UsageFact = Static<typeof usageFact.fact>;

/** A whole number that is not negative, whatever a vendor or a clock said. */
export const counted = (value: number): number => (Number.isFinite(value) ? Math.max(0, Math.round(value)) : 0);
