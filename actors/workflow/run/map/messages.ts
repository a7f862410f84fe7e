/** What a run at a Map and its child records tell each other, and what the run is asked of single items. */
import { type Static, Type } from "@sinclair/typebox";
import { aboutPeople } from "../../../approval/people.ts";
import { outcomeOf } from "../../../kernel/activity.ts";
import { AnyJson, JsonObject } from "../../../kernel/json.ts";
import { message } from "../../../kernel/message.ts";
import { Nullable, Text } from "../../../kernel/schema.ts";
import { Definition } from "../../definition.ts";
import { mapResults } from "../activities/map-results.ts";
import { RunHeader } from "../state.ts";
import { Index, Report } from "./progress.ts";

const Order = Type.Union([Type.Literal("retry"), Type.Literal("cancel")]);
export type Order = Static<typeof Order>;

export const ItemReply = Type.Union([
  Type.Object({ outcome: Type.Literal("done"), visit: Type.Integer() }),
  /** The item is in a status in which that cannot be done. */
  Type.Object({ outcome: Type.Literal("refused"), status: Text }),
  /** No Map of that name is at work. */
  Type.Object({ outcome: Type.Literal("not_running") }),
  Type.Object({ outcome: Type.Literal("no_item") }),
]);
export type ItemReply = Static<typeof ItemReply>;

const Caller = Nullable(Type.Object({ node: Text, call: Text, until: Type.Number() }));

export const mapMessages = {
  /** Begins a child record; by the run, in the commit of its own turn. The same again changes nothing. */
  open_items: message({
    body: Type.Object({
      header: RunHeader,
      definition: Definition,
      /** What the items see. */
      blackboard: JsonObject,
      items: Type.Array(AnyJson),
      /** Of its items, those that were cancelled before. */
      skip: Type.Array(Index),
      slots: Type.Integer({ minimum: 1 }),
    }),
  }),
  /** To a child record: nothing of it is wanted any more. It ends. */
  close_items: message({ body: Type.Object({ reason: Text }) }),
  /** To a child record. */
  slots_granted: message({ body: Type.Object({ slots: Type.Integer({ minimum: 1 }) }) }),
  /** To a child record, which answers the caller. */
  item_ordered: message({ body: Type.Object({ index: Index, order: Order, caller: Caller }) }),
  /** By a child record. */
  items_reported: message({ body: Report }),
  /** By a child record: people are asked about the call of an item, or have decided. */
  item_people: message({ body: Type.Object({ batch: Text, index: Index, ...aboutPeople }) }),
  /** Outcome of an activity. */
  map_collected: message({ body: outcomeOf(mapResults) }),
  /** Tries an item of the Map at work again that did not end well, or cancels one that has not ended. */
  item: message({ body: Type.Object({ state: Text, index: Index, order: Order }), reply: ItemReply }),
};
