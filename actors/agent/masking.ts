/** What of a manifest readers are shown who may not deploy. */
import type { Json } from "../kernel/json.ts";

const mask = "********";

/** Dotted; `*` stands for every key and every position. */
const hidden = [
  "environment.*",
  "spec.env.*",
  "spec.environment.*",
  "spec.output_handler.headers.*",
  "spec.execution.delivery.destinations.*.headers.*",
  "spec.execution.delivery.destinations.*.secret",
].map((path) => path.split("."));

/** The same of a workflow's state; a value that is a template is no secret of its author's. */
const hiddenOfState = [
  "env.*",
  "headers.*",
  "steps.*.env.*",
  "notify.*.secret",
  "escalate.notify.*.secret",
  "output_handler.headers.*",
];
/** Its states, what a Map does for each item, and those of branches. */
const states = ["spec.states.*", "spec.states.*.state", "spec.states.*.branches.*.states.*"];
const hiddenOfWorkflow = states.flatMap((state) => hiddenOfState.map((path) => `${state}.${path}`.split(".")));

/** A workflow's document with its environment, and all credentials for other services, hidden. */
export function maskedWorkflow(document: Json): Json {
  return hiddenOfWorkflow.reduce<Json>(hide, document);
}

/** The document with the values of its environment, and all credentials for other services, hidden. */
export function masked(document: Json): Json {
  return hidden.reduce<Json>(hide, document);
}

function hide(value: Json, path: readonly string[]): Json {
  const [key, ...rest] = path;
  if (key === undefined) return value === null ? null : mask;
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return key === "*" ? value.map((child) => hide(child, rest)) : value;
  // Object.fromEntries defines members, so that a key `__proto__` stays a key.
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [
      name,
      key === "*" || key === name ? hide((child ?? null) as Json, rest) : (child as Json),
    ]),
  );
}
