/** What Maps put on record of their items, for those who list them. */
import { type Static, Type } from "@sinclair/typebox";
import { defineFact } from "../../../kernel/effect.ts";
import { Text } from "../../../kernel/schema.ts";
import { ItemRow } from "./progress.ts";

const place = {
  run_id: Text,
  state_name: Text,
  visit: Type.Integer({ minimum: 1 }),
  /** Which attempt at the state within the visit. */
  attempt: Type.Integer({ minimum: 1 }),
};

export const ItemsFact = Type.Union([
  /** A Map began, or ended: what had not begun by then never will. */
  Type.Object({ of: Type.Literal("map"), ...place, total: Type.Integer(), ended: Type.Boolean() }),
  Type.Object({ of: Type.Literal("items"), ...place, items: Type.Array(ItemRow) }),
  /** The run was erased. */
  Type.Object({ of: Type.Literal("gone"), run_id: Text }),
]);
export type ItemsFact = Static<typeof ItemsFact>;

export const itemsFact = defineFact("workflow_items", ItemsFact);
