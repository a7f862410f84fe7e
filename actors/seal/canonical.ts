/**
 * The bytes that a signature of an envelope is over: one text for one meaning. Members are sorted, nothing is blank,
 * strings are escaped in one way, and numbers keep the characters received.
 */
import { type JsonNode, NumberText } from "./json-text.ts";

/** Sorts names of members. */
type Order = (one: string, other: string) => number;

/** What an envelope signs. */
export interface Signed {
  readonly payload: JsonNode;
  readonly security_token: string;
  /** Unix seconds. */
  readonly timestamp: number;
}

/**
 * The texts that a signature may be over, first the one by code points. Languages whose strings are UTF-16 sort names by
 * its units; that text is a second one where the two orders differ, and there is no third.
 */
export function canonicalTexts(signed: Signed): readonly [string] | readonly [string, string] {
  const first = envelopeText(signed, byCodePoint);
  return ordersDiffer(signed.payload) ? [first, envelopeText(signed, byUnit)] : [first];
}

/** One value as canonical text. */
export const canonicalText = (node: JsonNode): string => write(node, byCodePoint);

// The three names are in either order already.
const envelopeText = ({ payload, security_token, timestamp }: Signed, order: Order): string =>
  `{"payload":${write(payload, order)},"security_token":${quoted(security_token)},"timestamp":${timestamp}}`;

function write(node: JsonNode, order: Order): string {
  if (typeof node === "string") return quoted(node);
  if (node === null || typeof node === "boolean") return String(node);
  if (node instanceof NumberText) return node.text;
  if (node instanceof Map) {
    const names = [...node.keys()].sort(order);
    return `{${names.map((name) => `${quoted(name)}:${write(node.get(name) ?? null, order)}`).join(",")}}`;
  }
  return `[${node.map((item) => write(item, order)).join(",")}]`;
}

/** `JSON.stringify` escapes just what has to be, controls in lower case; of well-formed text it escapes nothing else. */
const quoted = (text: string): string => JSON.stringify(text);

const byUnit: Order = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

/** In UTF-16 the characters above U+FFFF come before those from U+E000 on; by code points they come last. */
const byCodePoint: Order = (one, other) => {
  const shorter = Math.min(one.length, other.length);
  for (let at = 0; at < shorter; at++) {
    const [mine, theirs] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (mine !== theirs) return rank(mine) - rank(theirs);
  }
  return one.length - other.length;
};

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
const rank = (unit: number): number => (isSurrogate(unit) ? unit + 0x10000 : unit);

/** Only an object that has names with characters above U+FFFF is sorted in two ways. */
function ordersDiffer(node: JsonNode): boolean {
  if (node === null || typeof node !== "object" || node instanceof NumberText) return false;
  if (!(node instanceof Map)) return node.some(ordersDiffer);
  const names = [...node.keys()];
  if (names.some((name) => surrogates.test(name))) {
    const sorted = names.toSorted(byUnit);
    if (names.toSorted(byCodePoint).some((name, at) => name !== sorted[at])) return true;
  }
  for (const member of node.values()) if (ordersDiffer(member)) return true;
  return false;
}

const surrogates = /[\ud800-\udfff]/;
