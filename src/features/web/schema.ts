/** Arguments of the `web.*` tools. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { shapeIssues } from "../../../actors/kernel/shape-issues.ts";
import { ToolFailure } from "../tools/port.ts";

export const SearchArguments = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 2_000, description: "What to search for" }),
  max_results: Type.Integer({ minimum: 1, maximum: 20, default: 10 }),
});
export type SearchArguments = Static<typeof SearchArguments>;

export const FetchArguments = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 8_192, description: "An http or https address" }),
  to_markdown: Type.Boolean({ default: true, description: "Turn HTML into markdown of its main content" }),
  follow_redirects: Type.Boolean({ default: true }),
  timeout_secs: Type.Integer({ minimum: 1, maximum: 120, default: 30 }),
});
export type FetchArguments = Static<typeof FetchArguments>;

/**
 * Fills in defaults and checks; nulls count as absent.
 * @throws ToolFailure `invalid_arguments` naming every member that does not fit
 */
export function readArguments<S extends TSchema>(
  tool: string,
  schema: S,
  given: Readonly<Record<string, unknown>>,
): Static<S> {
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const value = Value.Default(schema, structuredClone(present));
  if (Value.Check(schema, value)) return value;
  const issues = shapeIssues(Value.Errors(schema, value), 20).map((issue) => ({ ...issue }));
  const text = issues.map((issue) => `${issue.path}: ${issue.message}`).join("; ");
  throw new ToolFailure("invalid_arguments", `${tool}: ${text}`, { issues });
}
