/**
 * What the contract knows and this service does not do yet. Such a field is refused, never ignored.
 * Whoever builds the feature deletes its row.
 */
import type { Json } from "../../kernel/json.ts";
import type { Findings } from "../../manifest/findings.ts";

interface Row {
  /** `*` stands for every key and every position. */
  readonly path: string;
  /** Whether the value means anything beyond the default. */
  readonly matters: (value: Json) => boolean;
}

const starting =
  (...prefixes: readonly string[]) =>
  (value: Json): boolean =>
    typeof value === "string" && prefixes.some((prefix) => value.startsWith(prefix));
const reference = starting("secret:", "credential:");

const rows: readonly Row[] = [
  { path: "spec.execution.delivery.destinations.*.secret", matters: reference },
  { path: "spec.execution.delivery.destinations.*.headers.*", matters: reference },
  { path: "spec.output_handler.headers.*", matters: reference },
  { path: "spec.tools.*", matters: starting("mcp:") },
  { path: "spec.tools.*.name", matters: starting("mcp:") },
  { path: "spec.env.*", matters: reference },
  { path: "spec.environment.*", matters: reference },
  { path: "environment.*", matters: reference },
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
