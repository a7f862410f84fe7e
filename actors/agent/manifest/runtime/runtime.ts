/** `spec.runtime`: in what, and with which model, the agent runs; and its environment. */
import { suggestion } from "../../../kernel/nearest.ts";
import type { Fields } from "../../../manifest/fields.ts";
import { imageFault, maxImageCharacters, pullPolicy } from "../../../manifest/images/image.ts";
import { localImageFault } from "../../../manifest/images/local-images.ts";
import { registryCredentials } from "../../../manifest/images/registry-credentials.ts";
import { environmentName, offered, referenceFault } from "../../../manifest/members.ts";
import { object } from "../../../manifest/object.ts";
import { choice, number, pairs, text } from "../../../manifest/shape.ts";
import { type AgentScope, type Isolation, isolations, type NodeOffer, type RuntimeSpec } from "../spec.ts";
import { findRuntime, type Runtime } from "./runtimes.ts";

/** The sandbox that is asked for; `inherit` is the node's own. */
export const isolation = choice(...isolations)
  .check((wanted, { offer }: { readonly offer: { readonly isolations: readonly string[] } }) =>
    wanted === "inherit" ? null : offered(offer.isolations, "unsupported_isolation")(wanted),
  )
  .or("inherit");

export const runtime = object({
  isolation,
  language: text(),
  version: text(),
  image: text({ max: maxImageCharacters }).check((image, { offer }: AgentScope) => {
    const fault = imageFault(image, offer.imageRegistries);
    if (fault?.code !== "invalid" && !image.includes("/")) {
      return ["must name its repository, as in library/python:3.12-slim", "unqualified_image"];
    }
    return fault === null ? null : [fault.message, fault.code];
  }),
  image_pull_policy: pullPolicy,
  registry_credentials: registryCredentials,
  model: text({ min: 1, max: 64 }).or("default"),
  temperature: number(0, 2),
}).build(({ language, version, image, ...read }, fields, { offer }: AgentScope): RuntimeSpec => {
  if (!offer.servesModel(read.model)) {
    fields.warn("model", "unknown_model_alias", "No model answers to this alias now; starts will be refused");
  }
  const local = image === null ? null : localImageFault(image, read.image_pull_policy, offer.localImages);
  if (local !== null) fields.issue("image_pull_policy", local.message, local.code);
  if (read.registry_credentials !== null && !fields.has("image")) {
    fields.issue("registry_credentials", "is for an image that the manifest names; others are the node's own");
  }
  return { ...read, ...imageOf(fields, language, version, image, read.isolation, offer) };
});

type Image = Pick<RuntimeSpec, "language" | "version" | "image" | "bootstrap_env">;

function imageOf(
  fields: Fields,
  language: string | null,
  version: string | null,
  image: string | null,
  isolation: Isolation,
  offer: NodeOffer,
): Image {
  const named: Image = { language: null, version: null, image: image ?? "", bootstrap_env: {} };
  if (fields.has("image")) {
    if (fields.has("language") || fields.has("version")) {
      fields.warn("image", "image_overrides_language", "The image is used; language and version have no effect");
    }
    // A node without containers takes interpreters from its host.
    if ((isolation === "inherit" ? offer.defaultIsolation : isolation) === "process") {
      fields.warn("image", "image_ignored", "Isolation `process` runs on the host; the image has no effect");
    }
    return named;
  }
  if (!fields.has("language") && !fields.has("version")) {
    fields.findings.issue(fields.path, "needs an image, or a language with its version");
    return named;
  }
  if (!fields.has("language")) fields.issue("language", "is required beside version");
  if (!fields.has("version")) fields.issue("version", "is required beside language");
  if (language === null || version === null) return named;
  return fromRegistry(fields, offer.runtimes, language, version) ?? named;
}

function fromRegistry(fields: Fields, runtimes: readonly Runtime[], language: string, version: string): Image | null {
  const runtime = findRuntime(runtimes, language, version);
  if (runtime === null) {
    const siblings = runtimes.filter((candidate) => candidate.language === language);
    const available = (siblings.length > 0 ? siblings : runtimes).map((one) => `${one.language} ${one.version}`);
    const key = siblings.length > 0 ? "version" : "language";
    const meant = key === "language" ? suggestion(language, new Set(runtimes.map((one) => one.language))) : "";
    const message = `is not a runtime of this node, which has ${available.join(", ")}${meant}`;
    return fields.issue(key, message, "unsupported_runtime", { available });
  }
  if (runtime.deprecated) fields.warn("version", "deprecated_runtime", "This runtime will be removed");
  return { language, version, image: runtime.image, bootstrap_env: runtime.bootstrapEnv };
}

export const maxVariables = 128;
const reserved = /^(?:SVC|AEGIS|LD)_|^(?:PATH|HOME)$/;
const proxy = /^(?:https?|ftp|all|no)_proxy$/i;

/** The environment of the agent's own, which may be written in three places. */
export const environment = pairs(
  maxVariables,
  // Linux refuses to start a program with a longer variable.
  { key: environmentName, value: { max: 64 * 1024 } },
  (name, value) =>
    reserved.test(name) || proxy.test(name) ? ["is set by the service", "reserved_env"] : referenceFault(value),
);
