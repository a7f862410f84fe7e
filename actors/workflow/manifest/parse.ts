/**
 * From a request body to a manifest document, and nothing about what the document means.
 *
 * The media type says nothing: YAML and JSON are told apart by the text. Either may wrap the manifest.
 */

import { isObject, type Json } from "../../kernel/json.ts";
import { invalid } from "../../kernel/problem.ts";
import { checkDepth, maxManifestBytes, readYamlText, renderYaml, tooLarge } from "../../manifest/document.ts";
import { malformed } from "../../manifest/yaml-document.ts";
import type { ParsedWorkflow } from "./judged.ts";
import { workflowTextPaths } from "./manifest.ts";

interface Text {
  readonly document: Json;
  readonly isYaml: boolean;
}

/**
 * @throws Problem `body_too_large`, `malformed_body`; `validation_failed` for `force` and `scope` of a wrapper;
 *   nothing else
 */
export function parseWorkflow(body: string): ParsedWorkflow {
  if (Buffer.byteLength(body) > maxManifestBytes) throw tooLarge();
  const outer = readText(body);
  const wrapped = wrappedIn(outer.document);
  if (wrapped === undefined) return { ...written(outer, body), force: null, scope: null };
  const inner = typeof wrapped === "string" ? written(readText(wrapped), wrapped) : made(wrapped);
  return { ...inner, ...registrationOptionsIn(outer.document) };
}

/** JSON that is not quite JSON is read as the YAML it may be. */
function readText(text: string): Text {
  const bare = text.startsWith("\u{feff}") ? text.slice(1) : text;
  if (/^\s*[{[]/.test(bare)) {
    const document = readJson(bare);
    if (document !== undefined) {
      checkDepth(document, 1);
      return { document, isYaml: false };
    }
  }
  return { document: readYamlText(bare, workflowTextPaths), isYaml: true };
}

function readJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A manifest has `apiVersion`; a wrapper has the manifest. Undefined: no wrapper. */
function wrappedIn(body: Json): Json | undefined {
  if (!isObject(body) || Object.hasOwn(body, "apiVersion")) return undefined;
  const keys = ["manifest", "manifest_yaml"].filter((key) => Object.hasOwn(body, key));
  if (keys.length > 1) throw malformed("Send either manifest or manifest_yaml");
  const [key] = keys;
  return key === undefined ? undefined : (body[key] ?? null);
}

function written({ document, isYaml }: Text, text: string): Pick<ParsedWorkflow, "document" | "yaml"> {
  return isYaml ? { document, yaml: text } : made(document);
}

function made(document: Json): Pick<ParsedWorkflow, "document" | "yaml"> {
  return { document, yaml: renderYaml(document) };
}

/** What a wrapper says beside the manifest. */
function registrationOptionsIn(wrapper: Json): Pick<ParsedWorkflow, "force" | "scope"> {
  if (!isObject(wrapper)) return { force: null, scope: null };
  const { force = null, scope = null } = wrapper;
  const issues = [];
  if (force !== null && typeof force !== "boolean") {
    issues.push({ path: "force", message: "must be true or false", code: "invalid" });
  }
  if (scope !== null && scope !== "tenant" && scope !== "global") {
    issues.push({ path: "scope", message: "must be tenant or global", code: "invalid" });
  }
  if (issues.length > 0) throw invalid("validation_failed", "What stands beside the manifest is invalid", issues);
  return {
    force: force === null ? null : force === true,
    scope: scope === "tenant" || scope === "global" ? scope : null,
  };
}
