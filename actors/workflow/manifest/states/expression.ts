/** Expressions of conditions and filters. */
import { text } from "../../../manifest/shape.ts";
import { ExpressionError, parseExpression } from "../../../template/expression.ts";
import type { Reading } from "../members.ts";

export const maxExpressionCharacters = 4096;

export const expression = text({ min: 1, max: maxExpressionCharacters }).check(
  (expression, { templates }: Reading, fields, key) =>
    templates.spend(fields, key, 2 * expression.length) ? expressionFault(expression) : false,
);

function expressionFault(expression: string): readonly [string, string] | null {
  try {
    parseExpression(expression);
    return null;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return [error.message.slice(0, 300), "invalid_expression"];
  }
}
