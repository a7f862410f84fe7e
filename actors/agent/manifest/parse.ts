/**
 * From a request body to a manifest document, and nothing about what the document means.
 *
 * Bodies are YAML or JSON by their media type; JSON may wrap the manifest. Whatever is wrong here is
 * syntax (400) or size (413); what a well-formed document gets wrong is found by `validateManifest`.
 */

import { stringify } from "yaml";
import { isObject, type Json } from "../../kernel/json.ts";
import { Problem } from "../../kernel/problem.ts";
import { malformed, maxDepth, readYaml, tooDeep } from "../../manifest/yaml-document.ts";
import { manifestTextPaths, type TextPaths } from "./text-paths.ts";

/** Bytes of a manifest. */
export const maxManifestBytes = 1024 * 1024;

const jsonType = "application/json";
const yamlTypes = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain"];
/** Media types a manifest may come under. */
export const manifestMediaTypes: readonly string[] = [jsonType, ...yamlTypes];

export interface ManifestSource {
  /** Lower case, without parameters; null when the sender named none. */
  readonly mediaType: string | null;
  readonly text: string;
}

export interface ManifestDocument {
  /** The document as it was sent, wrappers removed. */
  readonly document: Json;
  /** The text as it was sent when that was YAML. */
  readonly yaml: string | null;
}

/**
 * @param textPaths where an unquoted scalar of YAML keeps its source text
 * @throws Problem `malformed_body`, `body_too_large`, `unsupported_media_type`; nothing else
 */
export function parseManifest(
  { mediaType, text }: ManifestSource,
  textPaths: TextPaths = manifestTextPaths,
): ManifestDocument {
  if (mediaType !== null && !manifestMediaTypes.includes(mediaType)) {
    throw new Problem("unsupported_media_type", "A manifest is sent as application/json or application/yaml");
  }
  if (Buffer.byteLength(text) > maxManifestBytes) throw tooLarge();
  const isJson = mediaType === jsonType || (mediaType === null && text.trimStart().startsWith("{"));
  return isJson ? fromJson(text, textPaths) : fromYaml(text, textPaths);
}

function fromYaml(text: string, textPaths: TextPaths): ManifestDocument {
  return { document: readYamlText(text, textPaths), yaml: text };
}

/**
 * One YAML document from a stranger.
 * @throws Problem `malformed_body`, whatever is wrong
 */
export function readYamlText(text: string, textPaths: TextPaths): Json {
  if (text.trim() === "") throw malformed("The manifest is empty");
  try {
    return readYaml(text, textPaths);
  } catch (error) {
    if (error instanceof Problem) throw error;
    // The library gives up by throwing on some input; that is the sender's fault too.
    throw malformed("Not valid YAML");
  }
}

function fromJson(text: string, textPaths: TextPaths): ManifestDocument {
  let body: Json;
  try {
    body = JSON.parse(text);
  } catch {
    throw malformed("Not valid JSON");
  }
  checkDepth(body, 1);
  const inner = unwrap(body);
  if (typeof inner === "string") return fromYaml(inner, textPaths);
  return { document: inner, yaml: null };
}

/** A manifest has `apiVersion`; a wrapper has the manifest. */
function unwrap(body: Json): Json {
  if (!isObject(body) || Object.hasOwn(body, "apiVersion")) return body;
  const wrapped = Object.hasOwn(body, "manifest") ? body.manifest : body.manifest_yaml;
  return isObject(wrapped) || typeof wrapped === "string" ? wrapped : body;
}

/** @throws Problem `malformed_body` */
export function checkDepth(value: Json, depth: number): void {
  if (value === null || typeof value !== "object") return;
  if (depth > maxDepth) throw tooDeep();
  for (const child of childrenOf(value)) checkDepth(child ?? null, depth + 1);
}

/** The library takes microseconds for each value. */
const maxRendered = 10_000;

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
