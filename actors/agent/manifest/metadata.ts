/** `metadata`: who the agent is. */

import { uuid } from "../../manifest/members.ts";
import { object } from "../../manifest/object.ts";
import { list, pairs, text } from "../../manifest/shape.ts";
import type { Metadata } from "./spec.ts";

/** How agents are named. */
export const agentName = {
  min: 1,
  max: 63,
  pattern: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/,
  form: "lower-case letters, digits and hyphens, with a letter or digit at both ends",
};
/** How a manifest names an agent of the tenant. */
export const agentKey = {
  min: 1,
  max: 63,
  pattern: new RegExp(`${agentName.pattern.source}|${uuid.pattern.source}`),
  form: "an agent's id or name",
};
/** Ids are compared in lower case. */
export const folded = (key: string): string => (uuid.pattern.test(key) ? key.toLowerCase() : key);

const version = {
  min: 1,
  max: 64,
  pattern: /^[0-9A-Za-z][0-9A-Za-z.+_-]*$/,
  form: "letters, digits and . + _ -, beginning with a letter or digit",
};
const semver =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

const maxPairs = 64;
const key = { min: 1, max: 63 };

export const metadata = object({
  name: text(agentName).required().or(""),
  version: text(version).required().or(""),
  description: text({ max: 4096 }),
  tags: list(text({ max: 64 }), 32).or([]),
  labels: pairs(maxPairs, { key, value: { max: 256 } }),
  annotations: pairs(maxPairs, { key, value: { max: 4096 } }),
}).build((read, fields): Metadata => {
  if (read.version !== "" && !semver.test(read.version)) {
    fields.warn("version", "not_semver", "This is not a semantic version");
  }
  return { ...read, agent_type: Object.hasOwn(read.labels, "role") ? (read.labels.role ?? "standard") : "standard" };
});
