/** The runtimes of this node: the built-in table, with the entries of `SVC_RUNTIME_REGISTRY` over it. */

import { readFileSync } from "node:fs";
import { builtInRuntimes, mergeRuntimes, type Runtime } from "../../../actors/agent/manifest/runtime/runtimes.ts";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { Fields } from "../../../actors/manifest/fields.ts";
import { Findings } from "../../../actors/manifest/findings.ts";
import { readYaml } from "../../../actors/manifest/yaml-document.ts";

/**
 * @param file path of a `RuntimeRegistry` document; null = none is configured
 * @throws Error naming every fault, when a configured file is not there or not valid
 */
export function loadRuntimes(file: string | null): readonly Runtime[] {
  if (file === null) return builtInRuntimes;
  const findings = new Findings();
  const runtimes = readRegistry(readDocument(file), findings);
  if (findings.issues.length > 0) {
    const faults = findings.issues.map((issue) => `${issue.path || "document"}: ${issue.message}`);
    throw new Error(`SVC_RUNTIME_REGISTRY is not valid:\n  ${faults.join("\n  ")}`);
  }
  return mergeRuntimes(builtInRuntimes, runtimes);
}

function readDocument(file: string): Json {
  try {
    return readYaml(readFileSync(file, "utf8"), null);
  } catch (error) {
    throw new Error(`SVC_RUNTIME_REGISTRY cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readRegistry(document: Json, findings: Findings): readonly Runtime[] {
  const root = Fields.of(document, "", findings);
  if (!root.has("kind")) root.issue("kind", "is required");
  root.choice("kind", ["RuntimeRegistry"]);
  const spec = root.section("spec");
  const registry = spec.text("registry_url", { min: 1, max: 256 });
  const languages = spec.raw("runtimes");
  if (!isObject(languages)) {
    spec.issue("runtimes", "must be an object");
    return [];
  }
  return Object.entries(languages).flatMap(([language, versions]) => {
    const path = `spec.runtimes.${language}`;
    const fields = Fields.of(versions, path, findings);
    return Object.keys(isObject(versions) ? versions : {}).map((version) =>
      readEntry(fields.section(version), language, version, registry),
    );
  });
}

function readEntry(fields: Fields, language: string, version: string, registry: string | null): Runtime {
  const image = fields.requiredText("image", { min: 1, max: 512, pattern: /^\S+$/, form: "an image reference" }) ?? "";
  return {
    language,
    version,
    image: registry === null ? image : fromRegistry(image, registry),
    description: fields.text("description") ?? `${language} ${version}`,
    bootstrapEnv: fields.pairs("bootstrap_env", 64, { key: { min: 1, max: 256 }, value: { max: 4096 } }),
    deprecated: fields.flag("deprecated"),
  };
}

/** Images that name no registry of their own come from the file's. */
function fromRegistry(image: string, registry: string): string {
  const [first = "", ...rest] = image.split("/");
  const namesHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  return namesHost ? image : `${registry.replace(/^https?:\/\//, "").replace(/\/+$/, "")}/${image}`;
}
