/** The wire shapes of items of Maps. */
import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../../../../../actors/kernel/json.ts";
import { Nullable, Text } from "../../../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../../../http/paging.ts";

const statuses = ["pending", "running", "completed", "failed", "cancelled"] as const;
const ItemStatus = Type.Union(statuses.map((name) => Type.Literal(name)));

export const ItemElement = Type.Object({
  index: Type.Integer({ minimum: 0 }),
  status: ItemStatus,
  attempts: Type.Integer({ minimum: 0 }),
  result: AnyJson,
  error: Nullable(Text),
  execution_id: Nullable(Text),
});
export type ItemElement = Static<typeof ItemElement>;

const State = Type.String({ minLength: 1, maxLength: 64, description: "The name of the Map" });

export const ItemsQuery = Type.Object({
  ...pagingQuery,
  state: State,
  visit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "The last one when absent" })),
  status: Type.Optional(ItemStatus),
});
export type ItemsQuery = Static<typeof ItemsQuery>;

export const ItemBody = Type.Object({ state: State }, { examples: [{ state: "TRIAGE" }] });
