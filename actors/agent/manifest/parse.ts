/**
 * From a request body to a manifest document, and nothing about what the document means.
 *
 * Bodies are YAML or JSON by their media type; JSON may wrap the manifest. Anything wrong here is
 * syntax (400) or size (413); what a well-formed document gets wrong is found by `validateManifest`.
 */

import type { Json } from "../../kernel/json.ts";
import { isObject } from "../../kernel/json.ts";
import { Problem } from "../../kernel/problem.ts";
import { checkDepth, maxManifestBytes, readYamlText, tooLarge } from "../../manifest/document.ts";
import type { TextPaths } from "../../manifest/text-paths.ts";
import { malformed } from "../../manifest/yaml-document.ts";
import { agentTextPaths } from "./manifest.ts";

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
  textPaths: TextPaths | null = agentTextPaths,
): ManifestDocument {
  if (mediaType !== null && !manifestMediaTypes.includes(mediaType)) {
    throw new Problem("unsupported_media_type", "A manifest is sent as application/json or application/yaml");
  }
  if (Buffer.byteLength(text) > maxManifestBytes) throw tooLarge();
  const isJson = mediaType === jsonType || (mediaType === null && text.trimStart().startsWith("{"));
  return isJson ? fromJson(text, textPaths) : fromYaml(text, textPaths);
}

function fromYaml(text: string, textPaths: TextPaths | null): ManifestDocument {
  return { document: readYamlText(text, textPaths), yaml: text };
}

function fromJson(text: string, textPaths: TextPaths | null): ManifestDocument {
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

/** Patches name some fields of `metadata` without it. */
export const patchTextPaths: TextPaths | null =
  agentTextPaths === null
    ? null
    : { ...agentTextPaths, members: { ...agentTextPaths.members?.metadata?.members, ...agentTextPaths.members } };
