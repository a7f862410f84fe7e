/** `metadata`: what the workflow is called, takes and gives. */

import { agentName } from "../../agent/manifest/metadata.ts";
import type { Json } from "../../kernel/json.ts";
import type { Fields } from "../../manifest/fields.ts";
import { schemaFault } from "../../manifest/json-schema.ts";
import { maxTemplateCharacters } from "../../manifest/template-field.ts";
import { isSemanticVersion } from "../version-order.ts";
import type { WorkflowMetadata } from "./states/judged.ts";
import type { Templates } from "./templates.ts";

const uuidShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Routes have these where the name of a workflow could stand. */
const routeNames = ["executions", "temporal", "validate"];
/** Compiling takes time in proportion, so that both share one bound: about 10 ms for each KiB. */
const maxSchemaCharacters = 32 * 1024;
const maxPairs = 64;
const pair = { key: { min: 1, max: 256 }, value: { max: 4096 } };
const maxTags = 64;
const maxOutputs = 64;
const outputName = { min: 1, max: 128, pattern: /^(?!__proto__$)\P{Cc}*$/u, form: "a plain name" };

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

export function readMetadata(root: Fields, templates: Templates): Metadata {
  const fields = root.requiredSection("metadata");
  if (fields === null) return noMetadata;
  const metadata = {
    name: readName(fields),
    version: readVersion(fields),
    description: fields.text("description", { max: 4096 }) ?? "",
    labels: fields.pairs("labels", maxPairs, pair),
    annotations: fields.pairs("annotations", maxPairs, pair),
    tags: fields.texts("tags", maxTags, { max: 256 }),
    ...readSchemas(fields),
    output_template: readOutputTemplate(fields, templates),
  };
  fields.close();
  return metadata;
}

function readName(fields: Fields): string {
  const name = fields.requiredText("name", agentName) ?? "";
  if (uuidShape.test(name)) fields.issue("name", "may not have the form of an id");
  if (routeNames.includes(name)) fields.issue("name", `may not be one of ${routeNames.join(", ")}`);
  return name;
}

function readVersion(fields: Fields): string {
  const version = fields.text("version") ?? noMetadata.version;
  if (isSemanticVersion(version)) return version;
  return fields.issue("version", "must be a semantic version, as 1.2.0, of at most 64 characters") ?? version;
}

function readSchemas(fields: Fields): { readonly input_schema: Json; readonly output_schema: Json } {
  const input_schema = fields.raw("input_schema");
  const output_schema = fields.raw("output_schema");
  if (JSON.stringify(input_schema).length + JSON.stringify(output_schema).length > maxSchemaCharacters) {
    const key = output_schema === null ? "input_schema" : "output_schema";
    fields.issue(key, "input and output schema may have at most 32 KiB together", "invalid_schema");
    return { input_schema: null, output_schema: null };
  }
  for (const key of ["input_schema", "output_schema"]) {
    const schema = fields.raw(key);
    const fault = schema === null ? null : schemaFault(schema);
    if (fault !== null) fields.issue(key, fault, "invalid_schema");
  }
  return { input_schema, output_schema };
}

/** An empty template is one all the same: its output is an empty object. */
function readOutputTemplate(fields: Fields, templates: Templates): Record<string, string> | null {
  if (!fields.has("output_template")) return null;
  const bounds = { key: outputName, value: { max: maxTemplateCharacters } };
  return {
    ...fields.pairs("output_template", maxOutputs, bounds, (name, source) =>
      templates.check(fields, `output_template.${name}`, source),
    ),
  };
}
