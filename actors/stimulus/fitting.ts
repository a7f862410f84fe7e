/** Whether a stimulus is one that a source starts something for, or that a Wait of a run waits for. */
import type { Json } from "../kernel/json.ts";
import type { Effort } from "../template/effort.ts";
import {
  type Expression,
  ExpressionError,
  evaluateExpression,
  parseExpression,
  pathsIn,
} from "../template/expression.ts";
import { member, print, type Value } from "../template/helpers.ts";
import { payloadOf } from "./content.ts";
import type { Stimulus } from "./stimulus.ts";

/** What expressions over a stimulus see. */
export interface Matter {
  readonly payload: Json;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a stimulus that was taken in is matched by: its headers are those that were forwarded. */
export function matterOf({
  content,
  contentEncoding,
  contentType,
  headers,
}: Pick<Stimulus, "content" | "contentEncoding" | "contentType" | "headers">): Matter {
  return { payload: contentEncoding === "utf-8" ? payloadOf(content, contentType) : null, headers };
}

/**
 * What the value at a path of a payload prints as: a text, a number or a truth value; null for anything else.
 * @param path names joined by dots, such as `order.id` or `items.0.sku`; a name in brackets is taken as it stands
 */
export function textAt(payload: Json, path: string): string | null {
  const names = path.match(/\[[^\]]*\]|[^.[\]]+/g) ?? [];
  const value = names.map((name) => name.replace(/^\[(.*)\]$/s, "$1")).reduce<Value>(member, payload);
  return value === undefined || value === null || typeof value === "object" ? null : print(value);
}

/** Whether something holds for a stimulus; what would take too long does not. */
export type Matcher = (matter: Matter, effort?: Effort) => boolean;

/** @param text of an expression; one that is not understood holds for nothing */
export function matcherOf(text: string, onFault?: () => void): Matcher {
  const expression = parsed(text);
  if (expression instanceof ExpressionError) return () => false;
  return ({ payload, headers }, effort) => evaluateExpression(expression, { payload, headers }, onFault, effort);
}

/** What an expression over a stimulus may ask for. */
const variables: readonly string[] = ["payload", "headers"];

/** Why a text is no expression over `payload` and `headers`; null: it is one. */
export function matchFault(text: string): string | null {
  const expression = parsed(text);
  if (expression instanceof ExpressionError) return expression.message;
  const other = pathsIn(expression).find(([root = ""]) => !variables.includes(root));
  return other === undefined ? null : `sees ${variables.join(" and ")} only, and not ${other[0]?.slice(0, 80)}`;
}

function parsed(text: string): Expression | ExpressionError {
  try {
    return parseExpression(text);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}

/** What a source lets through. */
export interface SourceFilter {
  /** Empty: all. */
  readonly events: readonly string[];
  readonly match: string | null;
}

export type Ignored = "event" | "match" | "match_failed";

/**
 * Why a source passes a message over; null: it does not.
 * @param names of the event, the most exact one first; none where the message names none: then it is no event of `events`
 */
export function ignoredBy(
  { events, match }: SourceFilter,
  names: readonly string[],
  matter: () => Matter,
): Ignored | null {
  if (events.length > 0 && !names.some((name) => events.includes(name))) return "event";
  if (match === null) return null;
  let isFault = false;
  const matches = matcherOf(match, () => {
    isFault = true;
  });
  if (matches(matter())) return null;
  return isFault ? "match_failed" : "match";
}
