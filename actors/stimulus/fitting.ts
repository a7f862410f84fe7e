/** Whether a stimulus is one that a source starts something for, or that a Wait of a run waits for. */
import type { Json } from "../kernel/json.ts";
import type { Effort } from "../template/effort.ts";
import { type Expression, ExpressionError, evaluateExpression, parseExpression } from "../template/expression.ts";
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

/** As `expression`, read once for all that is matched with it. */
export type Matcher = (matter: Matter, effort: Effort) => boolean;

/** @param text of an expression; one that is not understood, or that fails while it is evaluated, holds for nothing */
export function matcherOf(text: string): Matcher {
  const expression = parsed(text);
  if (expression === null) return () => false;
  return ({ payload, headers }, effort) => evaluateExpression(expression, { payload, headers }, undefined, effort);
}

function parsed(text: string): Expression | null {
  try {
    return parseExpression(text);
  } catch (error) {
    if (error instanceof ExpressionError) return null;
    throw error;
  }
}
