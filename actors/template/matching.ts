/** Expressions and paths over a message from outside: its payload and its headers. */
import type { Json } from "../kernel/json.ts";
import { suggestion } from "../kernel/nearest.ts";
import type { Effort } from "./effort.ts";
import { type Expression, ExpressionError, evaluateExpression, parseExpression, pathsIn } from "./expression.ts";
import { member, print, type Value } from "./helpers.ts";

/** What expressions over a message see. */
export interface Matter {
  readonly payload: Json;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
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

/** Steps of one expression on one message, for sources and for Waits alike: about 15 ms. */
export const matchSteps = 50_000;

/** Whether something holds for a message; what would take too long does not. */
export type Matcher = (matter: Matter, effort?: Effort) => boolean;

/** @param text of an expression; one that is not understood holds for nothing */
export function matcherOf(text: string, onFault?: () => void): Matcher {
  const expression = parsed(text);
  if (expression instanceof ExpressionError) return () => false;
  return ({ payload, headers }, effort) => evaluateExpression(expression, { payload, headers }, onFault, effort);
}

/** What an expression over a message may ask for. */
const variables: readonly string[] = ["payload", "headers"];

/** Why a text is no expression over `payload` and `headers`; null: it is one. */
export function matchFault(text: string): string | null {
  const expression = parsed(text);
  if (expression instanceof ExpressionError) return expression.message;
  const [root] = pathsIn(expression).find(([root = ""]) => !variables.includes(root)) ?? [];
  if (root === undefined) return null;
  return `sees ${variables.join(" and ")} only, and not ${root.slice(0, 80)}${suggestion(root, variables)}`;
}

function parsed(text: string): Expression | ExpressionError {
  try {
    return parseExpression(text);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}
