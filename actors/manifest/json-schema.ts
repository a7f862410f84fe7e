/** JSON Schemas from untrusted clients: 2020-12, or draft-07 by `$schema`, with references inside the schema only. */

import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isObject, type Json } from "../kernel/json.ts";

/** Compiling takes time in proportion: about 3 ms per KiB. */
export const maxSchemaCharacters = 64 * 1024;

const drafts: ReadonlyMap<string, typeof Ajv | typeof Ajv2020> = new Map([
  ["https://json-schema.org/draft/2020-12/schema", Ajv2020],
  ["http://json-schema.org/draft-07/schema", Ajv],
]);

/**
 * The schema as a check.
 * @param errors whether it goes on after the first one it finds
 * @throws Error whose message says what is wrong with the schema
 */
export function compileSchema(schema: Json, errors: "all" | "first" = "all"): ValidateFunction {
  if (!isObject(schema) && typeof schema !== "boolean") throw new Error("must be an object or a boolean");
  if (JSON.stringify(schema).length > maxSchemaCharacters) throw new Error("may have at most 64 KiB");
  const foreign = foreignReference(schema);
  if (foreign !== null)
    throw new Error(`refers to ${JSON.stringify(foreign.slice(0, 80))}; only references inside the schema work`);
  const named = isObject(schema) && typeof schema.$schema === "string" ? schema.$schema.replace(/#$/, "") : null;
  const Draft = named === null ? Ajv2020 : drafts.get(named);
  if (Draft === undefined) throw new Error("$schema must be that of 2020-12 or draft-07");
  // A fresh instance each time: untrusted schemas must not meet by `$id`.
  const ajv = new Draft({ strict: false, allErrors: errors === "all", logger: false });
  addFormats.default(ajv);
  return ajv.compile(schema);
}

/** What is wrong with a schema, or null. */
export function schemaFault(schema: Json): string | null {
  try {
    compileSchema(schema);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 300) : "is not a JSON Schema";
  }
}

function foreignReference(schema: Json): string | null {
  if (schema === null || typeof schema !== "object") return null;
  if (Array.isArray(schema)) return schema.map(foreignReference).find((found) => found !== null) ?? null;
  for (const [key, value] of Object.entries(schema)) {
    if ((key === "$ref" || key === "$dynamicRef") && typeof value === "string" && !value.startsWith("#")) return value;
    const below = foreignReference(value ?? null);
    if (below !== null) return below;
  }
  return null;
}
