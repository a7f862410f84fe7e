/** `spec.execution.validation`: by what an iteration's output is judged, in list form or in object form. */

import type { Json } from "../../../kernel/json.ts";
import { isObject } from "../../../kernel/json.ts";
import type { Fields } from "../../../manifest/fields.ts";
import { maxSchemaCharacters } from "../../../manifest/json-schema/json-schema.ts";
import { maxPatternCharacters, patternFault } from "../../../manifest/json-schema/pattern.ts";
import { jsonSchema, unsupported } from "../../../manifest/members.ts";
import { object, variants } from "../../../manifest/object.ts";
import { choice, either, integer, list, text } from "../../../manifest/shape.ts";
import { multiJudge, olderSemantic, passing, semantic } from "./judges.ts";
import type { Validator } from "./results.ts";

const refused = unsupported("is not supported");
const scripts = { script: refused, schema_path: refused };
const exitCode = integer(0, 255).or(0);
const path = text({ min: 1, max: 1024 });
const regex = text({ min: 1, max: maxPatternCharacters });
const regexOptions = {
  target: choice("stdout", "stderr").or("stdout"),
  flags: text({ pattern: /^(?!.*(.).*\1)[ims]*$/, form: "letters of i, m and s" }).or(""),
};

const listed = variants(
  "type",
  { type: choice("exit_code", "json_schema", "regex", "semantic", "multi_judge").required(), ...scripts },
  {
    exit_code: object({ expected: exitCode, ...passing(0.7) }).build(
      (read): Validator => ({ type: "exit_code", ...read }),
    ),
    json_schema: object({ schema: jsonSchema.required(), target_path: path, ...passing(1) }).build(
      (read): Validator => ({ type: "json_schema", ...read }),
    ),
    regex: object({ pattern: regex.required(), ...regexOptions, ...passing(1) }).build(
      (read, fields): Validator | null =>
        read.pattern === null ? null : regexOf(fields, "pattern", { ...read, pattern: read.pattern }),
    ),
    semantic,
    multi_judge: multiJudge,
  },
);

function regexOf(fields: Fields, key: string, read: Omit<Extract<Validator, { type: "regex" }>, "type">): Validator {
  const fault = patternFault(read.pattern, read.flags);
  if (fault !== null) fields.issue(key, fault);
  return { type: "regex", ...read };
}

const output = object({
  ...scripts,
  schema: jsonSchema,
  target_path: path.when(({ schema }) => schema !== null),
  regex,
  target: regexOptions.target.when(({ regex }) => regex !== null),
  flags: regexOptions.flags.when(({ regex }) => regex !== null),
  ...passing(1),
}).build(({ schema, target_path, regex: pattern, target, flags, min_score, min_confidence }, fields): Validator[] => {
  if (!fields.has("schema") && !fields.has("regex")) {
    fields.findings.issue(fields.path, "needs a schema or a regex");
  }
  const rest = { min_score, min_confidence };
  return [
    ...(schema === null ? [] : [{ type: "json_schema" as const, schema, target_path, ...rest }]),
    ...(pattern === null
      ? []
      : [regexOf(fields, "regex", { pattern, target: target ?? "stdout", flags: flags ?? "", ...rest })]),
  ];
});

/** The older spelling. */
const grouped = object({
  ...scripts,
  system: object({ ...scripts, exit_code: exitCode, ...passing(0.7) }).build(
    ({ exit_code, min_score, min_confidence }): Validator => ({
      type: "exit_code",
      expected: exit_code,
      min_score,
      min_confidence,
    }),
  ),
  output,
  semantic: object({ ...scripts, ...olderSemantic.body.members }).build(olderSemantic.body.build),
}).build(({ system, output, semantic }): readonly Validator[] => [
  ...(system === null ? [] : [system]),
  ...(output ?? []),
  ...(semantic === null ? [] : [semantic]),
]);

/** Characters of all schemas together: compiling takes time in proportion. */
const maxSchemas = 2 * maxSchemaCharacters;

export const validation = either("must be a list", {
  array: list(listed.named("Validator"), 16),
  object: grouped,
}).guard((written) =>
  Array.isArray(written) && charactersOfSchemas(written) > maxSchemas
    ? ["the schemas may have at most 128 KiB together", "invalid_schema"]
    : null,
);

const charactersOfSchemas = (validators: readonly Json[]): number =>
  validators.filter(isObject).reduce((sum, { schema = null }) => sum + JSON.stringify(schema).length, 0);
