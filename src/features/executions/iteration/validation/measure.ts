/** What a deterministic validator finds in an iteration's result. Pure; runs in a guarded process. */

import type { Json } from "../../../../../actors/kernel/json.ts";
import { withoutFence } from "../../../../../actors/kernel/text.ts";
import { issuesOf, type SchemaIssue } from "../../../../../actors/manifest/json-schema/issues.ts";
import { compileSchema } from "../../../../../actors/manifest/json-schema/json-schema.ts";
import { Pattern } from "../../../../../actors/manifest/json-schema/pattern.ts";
import { PatternRefused } from "../../../../../actors/manifest/json-schema/pattern-syntax.ts";

export type MeasureJob =
  | { readonly type: "regex"; readonly pattern: string; readonly flags: string; readonly text: string }
  | {
      readonly type: "json_schema";
      readonly schema: Json;
      readonly target_path: string | null;
      readonly output: string;
    };

export interface Finding {
  readonly score: 0 | 1;
  readonly feedback: string | null;
  readonly details: Json;
}

export function measure(job: MeasureJob): Finding {
  return job.type === "regex" ? matches(job) : conforms(job);
}

function matches({ pattern, flags, text }: MeasureJob & { type: "regex" }): Finding {
  let compiled: Pattern;
  try {
    compiled = new Pattern(pattern, flags);
  } catch (error) {
    // Stored before patterns had to do without backtracking.
    if (!(error instanceof PatternRefused)) throw error;
    return failed(`the pattern cannot be used: ${error.message}`, { reason: "invalid_pattern" });
  }
  const matched = compiled.test(text);
  return matched ? passed({ matched }) : failed(`no match for /${pattern}/${flags}`, { matched });
}

/** Characters of a parser's own words. */
const maxReason = 200;

function conforms({ schema, target_path, output }: MeasureJob & { type: "json_schema" }): Finding {
  let value: unknown;
  try {
    value = JSON.parse(withoutFence(output));
  } catch (error) {
    const why = error instanceof SyntaxError ? ` (${error.message.slice(0, maxReason)})` : "";
    const message = `is not JSON${why}; nothing may stand around it but one code fence`;
    return failed(`output: ${message}`, { issues: [{ path: "output", message }] });
  }
  const root = target_path === null ? "output" : `output.${target_path}`;
  for (const step of target_path === null ? [] : target_path.split(".")) {
    const holder = typeof value === "object" && value !== null && Object.hasOwn(value, step) ? value : null;
    if (holder === null) return failed(`${root}: is missing`, { issues: [{ path: root, message: "is missing" }] });
    value = (holder as Record<string, unknown>)[step];
  }
  const issues = check(schema, value, root);
  if (issues.length === 0) return passed({ issues: [] });
  return failed(issues.map((issue) => `${issue.path}: ${issue.message}`).join("\n"), { issues });
}

function check(schema: Json, value: unknown, root: string): readonly SchemaIssue[] {
  try {
    return issuesOf(compileSchema(schema), value, root);
  } catch (error) {
    return [{ path: root, message: `the schema is not usable: ${error instanceof Error ? error.message : "unknown"}` }];
  }
}

const passed = (details: Json): Finding => ({ score: 1, feedback: null, details });
const failed = (feedback: string, details: Json): Finding => ({ score: 0, feedback, details });
