/** `spec.runtime`: in what, and with which model, the agent runs. */
import type { Fields } from "../../manifest/fields.ts";
import { findRuntime, type Runtime } from "./runtimes.ts";
import { type Isolation, isolations, type NodeOffer, type RuntimeSpec } from "./spec.ts";

export function readRuntime(spec: Fields, offer: NodeOffer): RuntimeSpec | null {
  const fields = spec.requiredSection("runtime");
  if (fields === null) return null;
  const isolation = readIsolation(fields, offer);
  const image = readImage(fields, offer, isolation);
  const read = {
    image_pull_policy: fields.choice("image_pull_policy", ["Always", "IfNotPresent", "Never"]) ?? "IfNotPresent",
    isolation,
    model: readModel(fields, offer),
    temperature: fields.number("temperature", { min: 0, max: 2 }),
  };
  fields.close();
  return { ...read, ...image };
}

type Image = Pick<RuntimeSpec, "language" | "version" | "image" | "bootstrap_env">;

function readImage(fields: Fields, offer: NodeOffer, isolation: Isolation): Image {
  const language = fields.text("language");
  const version = fields.text("version");
  const image = fields.text("image", { max: maxImageCharacters });
  const named: Image = { language: null, version: null, image: image ?? "", bootstrap_env: {} };
  if (fields.has("image")) {
    if (image !== null) checkImage(fields, image, offer.imageRegistries);
    if (fields.has("language") || fields.has("version")) {
      fields.warn("image", "image_overrides_language", "The image is used; language and version have no effect");
    }
    warnWhereIgnored(fields, offer, isolation);
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
    return fields.issue(key, "is not a runtime of this node", "unsupported_runtime", { available });
  }
  if (runtime.deprecated) fields.warn("version", "deprecated_runtime", "This runtime will be removed");
  return { language, version, image: runtime.image, bootstrap_env: runtime.bootstrapEnv };
}

const maxImageCharacters = 512;
const part = "[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*";
const host =
  "(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::\\d{1,5})?";
const imageReference = new RegExp(
  `^(?:${host}/)?${part}(?:/${part})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
);

function checkImage(fields: Fields, image: string, registries: readonly string[] | null): void {
  const fault = imageFault(image, registries);
  if (fault?.code !== "invalid" && !image.includes("/")) {
    fields.issue("image", "must name its repository, as in library/python:3.12-slim", "unqualified_image");
  } else if (fault !== null) fields.issue("image", fault.message, fault.code);
}

/**
 * What is wrong with a text as the name of an image; null when nothing is.
 * @param registries that images may come from; null: any
 */
export function imageFault(
  image: string,
  registries: readonly string[] | null,
): { readonly code: "invalid" | "image_not_allowed"; readonly message: string } | null {
  if (image.length > maxImageCharacters || !imageReference.test(image)) {
    return { code: "invalid", message: "is not a valid image reference" };
  }
  if (registries === null || registries.includes(registryOf(image))) return null;
  return { code: "image_not_allowed", message: "comes from a registry this node does not allow" };
}

/** The first segment when it is written like a host, else the customary default. */
function registryOf(image: string): string {
  const [first = ""] = image.split("/", 1);
  if (!image.includes("/")) return "docker.io";
  return /[.:]/.test(first) || first === "localhost" ? first : "docker.io";
}

/** A node without containers takes interpreters from its host. */
function warnWhereIgnored(fields: Fields, offer: NodeOffer, isolation: Isolation): void {
  if ((isolation === "inherit" ? offer.defaultIsolation : isolation) !== "process") return;
  fields.warn("image", "image_ignored", "Isolation `process` runs on the host; the image has no effect");
}

function readIsolation(fields: Fields, offer: NodeOffer): Isolation {
  const isolation = fields.choice("isolation", isolations) ?? "inherit";
  if (isolation !== "inherit" && !offer.isolations.includes(isolation)) {
    fields.issue("isolation", `${isolation} is not offered here`, "unsupported_isolation");
  }
  return isolation;
}

function readModel(fields: Fields, offer: NodeOffer): string {
  const model = fields.text("model", { min: 1, max: 64 }) ?? "default";
  if (!offer.servesModel(model)) {
    fields.warn("model", "unknown_model_alias", "No model answers to this alias now; starts will be refused");
  }
  return model;
}
