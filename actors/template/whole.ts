/** Templates that are nothing but one value, which can be had as it is. */
import type { Json } from "../kernel/json.ts";

export interface Whole {
  readonly statement: hbs.AST.MustacheStatement;
  readonly expression: hbs.AST.Expression;
  /** In place of a value that does not exist. */
  readonly absent: Json;
}

/** The expression whose value a template is: that of a sole `{{path}}` or `{{json value}}`. Null: it is more, or text. */
export function onlyExpression({ body }: hbs.AST.Program): Whole | null {
  const [only, ...more] = body;
  if (only === undefined || more.length > 0 || only.type !== "MustacheStatement") return null;
  const statement = only as hbs.AST.MustacheStatement;
  const [given, ...others] = statement.params;
  if (given === undefined) return { statement, expression: statement.path as hbs.AST.Expression, absent: "" };
  const name = (statement.path as hbs.AST.PathExpression).original;
  return name === "json" && others.length === 0 ? { statement, expression: given, absent: null } : null;
}
