/** The results of a Map, put together from what its items left. */
import { type Static, Type } from "@sinclair/typebox";
import type { Outcome } from "../../../kernel/activity.ts";
import { defineActivity } from "../../../kernel/activity.ts";
import { AnyJson } from "../../../kernel/json.ts";
import { Text } from "../../../kernel/schema.ts";

export const MapResults = Type.Object({
  run_id: Text,
  state_name: Text,
  visit: Type.Integer({ minimum: 1 }),
  attempt: Type.Integer({ minimum: 1 }),
  total: Type.Integer({ minimum: 0 }),
});
export type MapResults = Static<typeof MapResults>;

/**
 * Outcome: `map_collected`. One result for each item, in their order: the result itself, where it is large
 * `{ref, bytes, sha256}`, and null where there is none.
 */
export const mapResults = defineActivity({
  name: "workflow.map_results",
  input: MapResults,
  output: Type.Object({
    results: Type.Array(AnyJson),
    failed: Type.Array(Type.Object({ index: Type.Integer(), error: Text })),
  }),
});
export type MapCollected = Outcome<typeof mapResults>;
