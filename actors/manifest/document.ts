/** Manifests as documents: reading and writing their text, and the JSON Schema of their shape. */
import { stringify } from "yaml";
import type { Json } from "../kernel/json.ts";
import { Problem } from "../kernel/problem.ts";
import { type Descriptions, described } from "./descriptions.ts";
import type { AnyShape, Definitions, JsonSchema } from "./shape.ts";
import type { TextPaths } from "./text-paths.ts";
import { malformed, maxDepth, readYaml, tooDeep } from "./yaml-document.ts";

/** Bytes of a manifest. */
export const maxManifestBytes = 1024 * 1024;

/** A shape as a JSON Schema document (2020-12), its fields described. */
export function manifestSchema(title: string, shape: AnyShape, descriptions: Descriptions): JsonSchema {
  const definitions: Definitions = new Map();
  const schema = shape.declared.schema(definitions);
  const document = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title,
    ...schema,
    $defs: Object.fromEntries(definitions),
  };
  return described(document, descriptions);
}

/**
 * One YAML document from an untrusted client.
 * @throws Problem `malformed_body` for every fault
 */
export function readYamlText(text: string, textPaths: TextPaths | null): Json {
  if (text.trim() === "") throw malformed("The manifest is empty");
  try {
    return readYaml(text, textPaths);
  } catch (error) {
    if (error instanceof Problem) throw error;
    // The library gives up by throwing on some input; that is the sender's fault too.
    throw malformed("Not valid YAML");
  }
}

/** @throws Problem `malformed_body` */
export function checkDepth(value: Json, depth: number): void {
  if (value === null || typeof value !== "object") return;
  if (depth > maxDepth) throw tooDeep();
  for (const child of childrenOf(value)) checkDepth(child ?? null, depth + 1);
}

/** The library takes tens of microseconds for each value. */
const maxRendered = 1_000;

/** The document as YAML text that reads back as the same document; a huge one as JSON, which is YAML too. */
export function renderYaml(document: Json): string {
  if (hasMoreValues(document, maxRendered)) return JSON.stringify(document);
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
}

function hasMoreValues(document: Json, most: number): boolean {
  const waiting: Json[] = [document];
  let count = 0;
  for (let next = waiting.pop(); next !== undefined && count <= most; next = waiting.pop()) {
    count += 1;
    if (next === null || typeof next !== "object") continue;
    const children = childrenOf(next);
    if (children.length > most) return true;
    for (const child of children) waiting.push(child ?? null);
  }
  return count > most;
}

/** `Object.values` takes a hundred times longer for a list. */
const childrenOf = (value: object): readonly Json[] => (Array.isArray(value) ? value : Object.values(value));

export function tooLarge(): Problem {
  return new Problem("body_too_large", "A manifest may have at most 1 MiB");
}
