/** What a run is told of signals, what it answers, and what it keeps of them. */
import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../../../kernel/json.ts";
import { message } from "../../../kernel/message.ts";
import { Nullable, Text } from "../../../kernel/schema.ts";

/** Absent: the signal carries nothing. */
const payload = Type.Optional(AnyJson);

/** One that came before its Wait. */
export const BufferedSignal = Type.Object({
  name: Text,
  payload,
  /** When it came, Unix milliseconds. */
  at: Type.Integer(),
});
export type BufferedSignal = Static<typeof BufferedSignal>;

/** A Wait for a signal inside a child record of items. */
export const ItemWait = Type.Object({
  /** The record, and its entry into the Wait. */
  record: Text,
  entry: Type.Integer({ minimum: 1 }),
  /** The run's entry into the Map. */
  map_entry: Type.Integer({ minimum: 1 }),
  signal: Text,
});
export type ItemWait = Static<typeof ItemWait>;

const Delivered = Type.Union([
  /** A Wait took it. */
  Type.Object({ outcome: Type.Literal("taken") }),
  /** It is an answer to this approval, which the caller hands over. */
  Type.Object({ outcome: Type.Literal("approval"), approval_id: Text }),
  Type.Object({ outcome: Type.Literal("buffered") }),
]);

/** A signal that was heard under a key, so that the same again is answered alike and does nothing more. */
export const HeardSignal = Type.Object({ work_id: Text, reply: Delivered });
export type HeardSignal = Static<typeof HeardSignal>;

export const SignalReply = Type.Union([
  ...Delivered.anyOf,
  Type.Object({ outcome: Type.Literal("buffer_full") }),
  Type.Object({ outcome: Type.Literal("no_open_approval") }),
  Type.Object({
    outcome: Type.Literal("already_terminal"),
    status: Text,
    /** The run that follows this one; absent: none does. */
    continued_as: Type.Optional(Text),
  }),
  Type.Object({ outcome: Type.Literal("unknown") }),
]);
export type SignalReply = Static<typeof SignalReply>;

export const signalMessages = {
  /** From outside. Repeatable under one `work_id`; null: it comes once. Without a name it can but answer an approval. */
  signal: message({
    body: Type.Object({ signal_name: Nullable(Text), payload, work_id: Nullable(Text) }),
    reply: SignalReply,
  }),
  /** By a child record of items: an item waits for a signal, or does no longer. Repeatable. */
  item_waits: message({ body: ItemWait }),
  item_left: message({ body: Type.Pick(ItemWait, ["record", "entry"]) }),
  /** To a child record of items: the signal that this entry waits for. */
  item_signalled: message({ body: Type.Object({ entry: Type.Integer(), name: Text, payload }) }),
  /** By a child record of items whose Wait was over when the signal came: it is another's. */
  signal_returned: message({ body: Type.Object({ name: Text, payload }) }),
};
