/** `spec.execution.validation`: by what an iteration's output is judged, in list form or in object form. */

import type { Validator } from "../../execution/start/plan.ts";
import { isObject, type Json } from "../../kernel/json.ts";
import { Fields } from "../../manifest/fields.ts";
import type { Findings } from "../../manifest/findings.ts";
import { maxSchemaCharacters, schemaFault } from "../../manifest/json-schema.ts";
import { readMultiJudge, readOlderSemantic, readSemantic } from "./judges.ts";
import { readPassing } from "./passing.ts";

const maxValidators = 16;
/** Characters of all schemas together: compiling takes time in proportion. */
const maxSchemas = 2 * maxSchemaCharacters;
const types = ["exit_code", "json_schema", "regex", "semantic", "multi_judge"] as const;

export function readValidators(execution: Fields): readonly Validator[] {
  const value = execution.raw("validation");
  if (isObject(value)) return fromObject(Fields.of(value, execution.at("validation"), execution.findings));
  const list = execution.list("validation", maxValidators) ?? [];
  const schemas = list.filter(isObject).map((element) => JSON.stringify(element.schema ?? null).length);
  if (schemas.reduce((sum, length) => sum + length, 0) > maxSchemas) {
    execution.issue("validation", "the schemas may have at most 128 KiB together", "invalid_schema");
    return [];
  }
  return list.flatMap((element, index) =>
    fromElement(element, execution.at(`validation.${index}`), execution.findings),
  );
}

function fromElement(element: Json, path: string, findings: Findings): readonly Validator[] {
  const fields = Fields.of(element, path, findings);
  if (!isObject(element)) return [];
  if (!fields.has("type")) fields.issue("type", "is required");
  const type = fields.choice("type", types);
  refuseScripts(fields);
  switch (type) {
    case "exit_code":
      return closed(fields, exitCode(fields, "expected"));
    case "json_schema":
      return closed(fields, jsonSchema(fields));
    case "regex":
      return closed(fields, regex(fields, "pattern"));
    case "semantic":
      return closed(fields, present(readSemantic(fields)));
    case "multi_judge":
      return closed(fields, present(readMultiJudge(fields)));
    default:
      // Of an unknown type nothing can be said.
      return [];
  }
}

/** `{system: {exit_code}, output: {schema, regex}, semantic: {judge_agent, prompt}}`, the older spelling. */
function fromObject(fields: Fields): readonly Validator[] {
  const system = fields.section("system");
  const output = fields.section("output");
  const semantic = fields.section("semantic");
  for (const section of [fields, system, output, semantic]) refuseScripts(section);
  const validators = [
    ...(fields.has("system") ? closed(system, exitCode(system, "exit_code")) : []),
    ...(output.has("schema") ? jsonSchema(output) : []),
    ...(output.has("regex") ? regex(output, "regex") : []),
    ...(fields.has("semantic") ? closed(semantic, present(readOlderSemantic(semantic))) : []),
  ];
  if (fields.has("output") && !output.has("schema") && !output.has("regex")) {
    fields.issue("output", "needs a schema or a regex");
  }
  output.close();
  fields.close();
  return validators;
}

function exitCode(fields: Fields, key: string): readonly Validator[] {
  const expected = fields.integer(key, { min: 0, max: 255 }) ?? 0;
  const passing = readPassing(fields, 0.7);
  return [{ type: "exit_code", expected, ...passing }];
}

function jsonSchema(fields: Fields): readonly Validator[] {
  const schema = fields.raw("schema");
  const fault = schema === null ? "is required" : schemaFault(schema);
  if (fault !== null) fields.issue("schema", fault, schema === null ? "invalid" : "invalid_schema");
  const target_path = fields.text("target_path", { min: 1, max: 1024 });
  const passing = readPassing(fields, 1);
  return [{ type: "json_schema", schema, target_path, ...passing }];
}

function regex(fields: Fields, key: string): readonly Validator[] {
  const pattern = fields.requiredText(key, { min: 1, max: 10_000 });
  const target = fields.choice("target", ["stdout", "stderr"]) ?? "stdout";
  const flags = fields.text("flags", { pattern: /^(?!.*(.).*\1)[ims]*$/, form: "letters of i, m and s" }) ?? "";
  const passing = readPassing(fields, 1);
  if (pattern !== null && !compiles(pattern, flags)) fields.issue(key, "is not a regular expression");
  return [{ type: "regex", pattern: pattern ?? "", target, flags, ...passing }];
}

function compiles(pattern: string, flags: string): boolean {
  try {
    new RegExp(pattern, flags);
    return true;
  } catch {
    return false;
  }
}

function refuseScripts(fields: Fields): void {
  for (const key of ["script", "schema_path"]) {
    if (fields.has(key)) fields.issue(key, "is not supported", "unsupported_field");
  }
}

function closed(fields: Fields, validators: readonly Validator[]): readonly Validator[] {
  fields.close();
  return validators;
}

function present(validator: Validator | null): readonly Validator[] {
  return validator === null ? [] : [validator];
}
