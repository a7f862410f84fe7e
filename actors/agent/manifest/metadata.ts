/** `metadata`: who the agent is. */
import type { Fields } from "../../manifest/fields.ts";
import type { Metadata } from "./spec.ts";

/** How agents are named. */
export const agentName = {
  min: 1,
  max: 63,
  pattern: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/,
  form: "lower-case letters, digits and hyphens, with a letter or digit at both ends",
};
const version = {
  min: 1,
  max: 64,
  pattern: /^[0-9A-Za-z][0-9A-Za-z.+_-]*$/,
  form: "letters, digits and . + _ -, beginning with a letter or digit",
};
const semver =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

const maxPairs = 64;
const label = { key: { min: 1, max: 63 }, value: { max: 256 } };
const annotation = { key: { min: 1, max: 63 }, value: { max: 4096 } };

export function readMetadata(root: Fields): Metadata | null {
  const fields = root.requiredSection("metadata");
  if (fields === null) return null;
  const read = {
    name: fields.requiredText("name", agentName) ?? "",
    version: fields.requiredText("version", version) ?? "",
    description: fields.text("description", { max: 4096 }),
    tags: fields.texts("tags", 32, { max: 64 }),
    labels: fields.pairs("labels", maxPairs, label),
    annotations: fields.pairs("annotations", maxPairs, annotation),
  };
  if (read.version !== "" && !semver.test(read.version)) {
    fields.warn("version", "not_semver", "This is not a semantic version");
  }
  fields.close();
  return { ...read, agent_type: Object.hasOwn(read.labels, "role") ? (read.labels.role ?? "standard") : "standard" };
}
