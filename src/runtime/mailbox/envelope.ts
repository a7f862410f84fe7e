/**
 * A message on its way: what stands in one mailbox entry.
 *
 * `source` and `sequence` name the message for ever. A sender numbers its messages upwards and sends
 * them in order, so a mailbox that remembers the last number taken from each source drops every repeat:
 * a resent command after a broken connection, an outbox published again by a partition's next owner.
 *
 * An effect of a committed turn also names its predecessor to the same partition: a receiver that has not taken that
 * one finds the gap and reads the missing effects from PostgreSQL, where they stay until it has committed them.
 */
import type { Json } from "../../../actors/kernel/json.ts";
import type { ReplyTo } from "../../../actors/kernel/message.ts";

export interface Envelope {
  /** `n<node id>` for a node's own sends, `p<partition>` for effects of committed turns. */
  readonly source: string;
  readonly sequence: number;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly type: string;
  readonly body: Json;
  readonly replyTo: ReplyTo | null;
  /** Set when the message is the outcome of this activity. */
  readonly activity: string | null;
  /** The key was minted for this very message, so the actor cannot exist yet. */
  readonly fresh: boolean;
  /** Of the actor's protocol as the sender knows it; absent: the first. */
  readonly version?: number;
  /** Set for an effect of a committed turn; not for those of nodes of the former version. */
  readonly effect?: EffectMark;
  /** Who wants to know that the message is taken: the actor answers nothing. */
  readonly acknowledge?: ReplyTo;
  /** The row of the inbox that holds the message, to be deleted with its turn's commit. */
  readonly inbox?: string;
}

export interface EffectMark {
  /** The number of the last effect before this one that the same partition may not have taken; 0 for none. */
  readonly after: number;
  /** The incarnation of the database that the effect was read from. */
  readonly incarnation: string;
}

type WireReply = [node: string, call: string, until: number];

/**
 * The ninth: 1 for a fresh key, and twice the version, 0 for the first. Nodes of the former version read the first ten
 * members alone.
 */
type Wire = [
  string,
  number,
  string,
  string,
  string,
  string,
  WireReply | 0,
  string | 0,
  number,
  Json,
  ([after: number, incarnation: string] | 0)?,
  (WireReply | 0)?,
];

export function encodeEnvelope(envelope: Envelope): string {
  const { replyTo } = envelope;
  const wire: Wire = [
    envelope.source,
    envelope.sequence,
    envelope.kind,
    envelope.key,
    envelope.tenant,
    envelope.type,
    replyTo === null ? 0 : [replyTo.node, replyTo.call, replyTo.until],
    envelope.activity ?? 0,
    (envelope.fresh ? 1 : 0) + 2 * (envelope.version ?? 0),
    envelope.body,
  ];
  const { effect, acknowledge } = envelope;
  if (effect !== undefined) wire.push([effect.after, effect.incarnation]);
  if (acknowledge !== undefined) {
    if (effect === undefined) wire.push(0);
    wire.push([acknowledge.node, acknowledge.call, acknowledge.until]);
  }
  return JSON.stringify(wire);
}

/**
 * What is wrong with the words that name an actor and a message, or null. They go into text columns and are
 * compared there, so they must be what PostgreSQL's UTF-8 can hold: no U+0000, no lone surrogates.
 */
export function addressFault(...words: readonly unknown[]): string | null {
  for (const word of words) {
    if (typeof word !== "string") return "a name is not a string";
    if (word.includes("\0") || !word.isWellFormed()) return "a name holds characters that cannot be stored";
  }
  return null;
}

/** @throws when the text is not an envelope; only this runtime writes mailboxes, so that means damage */
export function decodeEnvelope(text: string): Envelope {
  const [source, sequence, kind, key, tenant, type, replyTo, activity, mark, body, effect, acknowledge] = JSON.parse(
    text,
  ) as Wire;
  if (typeof sequence !== "number" || !areNames(text, source, kind, key, tenant, type, activity || "")) {
    throw new Error("not an envelope");
  }
  const envelope = {
    source,
    sequence,
    kind,
    key,
    tenant,
    type,
    body,
    replyTo: replyTo === 0 ? null : toReply(replyTo),
    activity: activity === 0 ? null : activity,
    fresh: mark % 2 === 1,
  };
  if (mark <= 1 && !effect && !acknowledge) return envelope;
  return {
    ...envelope,
    ...(mark > 1 ? { version: mark >> 1 } : {}),
    ...(effect ? { effect: { after: effect[0], incarnation: effect[1] } } : {}),
    ...(acknowledge ? { acknowledge: toReply(acknowledge) } : {}),
  };
}

/** Whether words of a JSON text are names. They hold nothing that cannot be stored where the text neither does nor has escapes of it. */
function areNames(text: string, ...words: readonly unknown[]): boolean {
  if (words.every((word) => typeof word === "string") && text.isWellFormed() && !text.includes("\\u")) return true;
  return addressFault(...words) === null;
}

const toReply = ([node, call, until]: WireReply): ReplyTo => ({ node, call, until });

/** Numbers of effects may be given again by a database that lost its last commits; ids are not. */
export function messageId({ source, sequence, effect }: Envelope): string {
  return effect === undefined ? `${source}.${sequence}` : `${source}@${effect.incarnation}.${sequence}`;
}
