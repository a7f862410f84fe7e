/** JSON Schemas from untrusted clients: 2020-12, or draft-07 by `$schema`, with references inside the schema only. */

import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isObject, type Json } from "../../kernel/json.ts";
import { Pattern } from "./pattern.ts";
import { PatternRefused } from "./pattern-syntax.ts";
import { expandedCharacters } from "./size.ts";

/** Compiling takes time in proportion: about 3 ms per KiB. */
export const maxSchemaCharacters = 64 * 1024;
/** Characters with what every distinct reference leads to: each is compiled once more. */
const maxExpandedCharacters = 4 * maxSchemaCharacters;

/** What a schema says about itself decides which of these reads it. */
const drafts: ReadonlyMap<string, typeof Ajv | typeof Ajv2020> = new Map([
  ["https://json-schema.org/draft/2020-12/schema", Ajv2020],
  ["http://json-schema.org/draft-07/schema", Ajv],
]);

/** One of each draft that checks schemas by the draft's own schema, whose compilation takes longer than most others. */
const metas = new Map<typeof Ajv | typeof Ajv2020, Ajv | Ajv2020>();

/** Lets patterns of a schema be matched in linear time; `ajv` asks for flags when it compiles. */
const patterns = Object.assign(
  (source: string, flags: string) => {
    try {
      return new Pattern(source, flags);
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error;
      throw new Error(`the pattern ${JSON.stringify(source.slice(0, 80))} cannot be used: ${error.message}`);
    }
  },
  // Of code that is written to a file, which none is here.
  { code: "pattern" },
);

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
  if (expandedCharacters(schema) > maxExpandedCharacters) {
    throw new Error(`may have at most ${maxExpandedCharacters / 1024} KiB with what its references lead to`);
  }
  const named = isObject(schema) && typeof schema.$schema === "string" ? schema.$schema.replace(/#$/, "") : null;
  const Draft = named === null ? Ajv2020 : drafts.get(named);
  if (Draft === undefined) throw new Error("$schema must be that of 2020-12 or draft-07");
  const meta = metaOf(Draft);
  if (!meta.validateSchema(schema)) throw new Error(`schema is invalid: ${meta.errorsText(meta.errors)}`);
  // A fresh instance each time: untrusted schemas must not meet by `$id`.
  const ajv = new Draft({
    strict: false,
    allErrors: errors === "all",
    logger: false,
    meta: false,
    validateSchema: false,
    // A reference is a call: put in its place, what it leads to would multiply.
    inlineRefs: false,
    code: { regExp: patterns },
  });
  addFormats.default(ajv);
  return ajv.compile(schema);
}

function metaOf(Draft: typeof Ajv | typeof Ajv2020): Ajv | Ajv2020 {
  let meta = metas.get(Draft);
  if (meta === undefined) {
    meta = new Draft({ strict: false, logger: false });
    addFormats.default(meta);
    metas.set(Draft, meta);
  }
  return meta;
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
