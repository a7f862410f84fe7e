/**
 * What the contract knows and this service does not do yet. Such a field is refused, never ignored.
 * Whoever builds the feature deletes its row.
 */
import type { Json } from "../actor.ts";
import type { Findings } from "./findings.ts";
import { isObject } from "./parse.ts";

interface Row {
  /** `*` stands for every key and every position. */
  readonly path: string;
  /** Whether the value means anything beyond the default. */
  readonly matters: (value: Json) => boolean;
}

const written = (): boolean => true;
const filled = (value: Json): boolean => !(Array.isArray(value) && value.length === 0);
const on = (value: Json): boolean => value === true;
const aboveZero = (value: Json): boolean => typeof value === "number" && value > 0;
const oneOf =
  (...options: readonly string[]) =>
  (value: Json): boolean =>
    typeof value === "string" && options.includes(value);
const starting =
  (...prefixes: readonly string[]) =>
  (value: Json): boolean =>
    typeof value === "string" && prefixes.some((prefix) => value.startsWith(prefix));
const opensNetwork = (value: Json): boolean => isObject(value) && value.mode !== "none";
const runsByItself = (value: Json): boolean =>
  !(isObject(value) && (value.type === "manual" || value.enabled === false));

const judge = oneOf("semantic", "multi_judge");
const reference = starting("secret:", "credential:");

const rows: readonly Row[] = [
  { path: "metadata.labels.role", matters: oneOf("judge") },
  { path: "spec.task.prompt_template", matters: written },
  { path: "spec.task.input_data", matters: written },
  { path: "spec.task.agentskills", matters: filled },
  { path: "spec.context", matters: filled },
  { path: "spec.execution.validation.*.type", matters: judge },
  { path: "spec.execution.validation.semantic", matters: written },
  { path: "spec.execution.tool_validation", matters: filled },
  { path: "spec.execution.delivery.destinations", matters: filled },
  { path: "spec.security.network", matters: opensNetwork },
  { path: "spec.security.filesystem.read", matters: filled },
  { path: "spec.security.filesystem.write", matters: filled },
  { path: "spec.security.filesystem.read_only", matters: on },
  { path: "spec.schedule", matters: runsByItself },
  { path: "spec.tools.*", matters: starting("mcp:") },
  { path: "spec.tools.*.name", matters: starting("mcp:") },
  { path: "spec.env.*", matters: reference },
  { path: "spec.environment.*", matters: reference },
  { path: "environment.*", matters: reference },
  { path: "spec.volumes", matters: filled },
  { path: "spec.advanced.warm_pool_size", matters: aboveZero },
  { path: "spec.advanced.swarm_enabled", matters: on },
  { path: "spec.advanced.startup_script", matters: written },
  { path: "spec.advanced.bootstrap_path", matters: written },
  { path: "spec.input_schema", matters: written },
  { path: "spec.security_context", matters: written },
  { path: "spec.output_handler", matters: written },
];

/** Adds an issue for every such field, unless the field has an issue of its own already. */
export function refuseNotYet(document: Json, findings: Findings): void {
  for (const { path, matters } of rows) {
    for (const [at, value] of valuesAt(document, path.split("."), [])) {
      if (value === null || !matters(value) || findings.hasIssueAt(at)) continue;
      findings.issue(at, "is not supported by this version of the service", "unsupported_field");
    }
  }
}

/** Bounds the walk: longer lists and maps are an issue elsewhere already. */
const maxChildren = 256;

function valuesAt(
  value: Json,
  path: readonly string[],
  walked: readonly string[],
): readonly (readonly [string, Json])[] {
  const [key, ...rest] = path;
  if (key === undefined) return [[walked.join("."), value]];
  if (value === null || typeof value !== "object") return [];
  const children = Object.entries(value).filter(([name]) => key === "*" || name === key);
  return children.slice(0, maxChildren).flatMap(([name, child]) => valuesAt(child ?? null, rest, [...walked, name]));
}
