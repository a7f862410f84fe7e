/** `metadata`: what the workflow is called, takes and gives. */
import { agentName } from "../../agent/manifest/metadata.ts";
import type { Fields } from "../../manifest/fields.ts";
import { schemaFault } from "../../manifest/json-schema/json-schema.ts";
import { maxTemplateCharacters, uncheckedSchema } from "../../manifest/members.ts";
import { object } from "../../manifest/object.ts";
import { list, pairs, text } from "../../manifest/shape.ts";
import { isSemanticVersion } from "../version-order.ts";
import type { WorkflowMetadata } from "./judged.ts";
import type { Reading } from "./members.ts";

const uuidShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Routes have these where the name of a workflow could stand. */
const routeNames = ["executions", "temporal", "validate"];
/** Compiling takes time in proportion, so that both share one bound: about 10 ms for each KiB. */
const maxSchemaCharacters = 32 * 1024;
const label = { key: { min: 1, max: 256 }, value: { max: 4096 } };
const outputs = {
  key: { min: 1, max: 128, pattern: /^(?!__proto__$)\P{Cc}*$/u, form: "a plain name" },
  value: { max: maxTemplateCharacters },
};

export type Metadata = Omit<WorkflowMetadata, "output_template"> & {
  readonly output_template: Record<string, string> | null;
};

export const noMetadata: Metadata = {
  name: "",
  version: "1.0.0",
  description: "",
  labels: {},
  annotations: {},
  tags: [],
  input_schema: null,
  output_schema: null,
  output_template: null,
};

export const metadata = object({
  name: text(agentName)
    .check((name) => (uuidShape.test(name) ? "may not have the form of an id" : null))
    .check((name) => (routeNames.includes(name) ? `may not be one of ${routeNames.join(", ")}` : null))
    .required()
    .or(""),
  version: text()
    .check((version) =>
      isSemanticVersion(version) ? null : "must be a semantic version, as 1.2.0, of at most 64 characters",
    )
    .or(noMetadata.version),
  description: text({ max: 4096 }).or(""),
  labels: pairs(64, label),
  annotations: pairs(64, label),
  tags: list(text({ max: 256 }), 64).or([]),
  input_schema: uncheckedSchema,
  output_schema: uncheckedSchema,
  output_template: pairs(64, outputs, (_name, source, { templates }: Reading, fields, path) =>
    templates.check(fields, path, source) ? null : false,
  ),
}).build((read, fields): Metadata => {
  // An empty template is one all the same: its output is an empty object.
  const output_template = fields.has("output_template") ? { ...read.output_template } : null;
  const schemas = checkSchemas(fields) ? {} : { input_schema: null, output_schema: null };
  return { ...read, ...schemas, output_template };
});

function checkSchemas(fields: Fields): boolean {
  const input = fields.raw("input_schema");
  const output = fields.raw("output_schema");
  if (JSON.stringify(input).length + JSON.stringify(output).length > maxSchemaCharacters) {
    const key = output === null ? "input_schema" : "output_schema";
    fields.issue(key, "input and output schema may have at most 32 KiB together", "invalid_schema");
    return false;
  }
  for (const key of ["input_schema", "output_schema"]) {
    const schema = fields.raw(key);
    const fault = schema === null ? null : schemaFault(schema);
    if (fault !== null) fields.issue(key, fault, "invalid_schema");
  }
  return true;
}
