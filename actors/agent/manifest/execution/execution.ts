/** `spec.execution`: how often, how long, and by what an output is judged. */

import type { Fields } from "../../../manifest/fields.ts";
import { duration, second } from "../../../manifest/members.ts";
import { object } from "../../../manifest/object.ts";
import { anything, choice, flag, integer } from "../../../manifest/shape.ts";
import type { ExecutionSpec } from "../spec.ts";
import { delivery } from "./delivery.ts";
import { toolJudges } from "./judges.ts";
import { validation } from "./validators.ts";

/** Of a token budget: more than any execution could use. */
const maxTokens = 1_000_000_000;
export const iterationTimeout = "1 s to the timeout of the whole execution";

/** A member without effect so far. */
export const reserved = anything.check((_value, _scope, fields: Fields, key) => {
  fields.warn(key, "reserved_field", "This field is reserved and has no effect yet");
  return null;
});

export const execution = object({
  mode: choice("one-shot", "iterative"),
  max_retries: integer(1, 20),
  max_iterations: integer(1, 20),
  iteration_timeout: duration({ min: second, max: Number.POSITIVE_INFINITY, said: iterationTimeout }),
  llm_timeout_seconds: integer(1, 3600).or(300),
  max_tokens: integer(1, maxTokens),
  validation,
  tool_validation: toolJudges,
  delivery: delivery.section(),
  memory: flag(),
}).build((read, fields) => {
  if (read.memory) fields.warn("memory", "reserved_field", "This field is reserved and has no effect yet");
  return {
    ...iterations(read.mode, read.max_iterations ?? read.max_retries, fields),
    /** Null: not named. */
    iteration_timeout_ms: read.iteration_timeout,
    llm_timeout_ms: read.llm_timeout_seconds * second,
    max_tokens: read.max_tokens,
    validators: read.validation ?? [],
    tool_judges: read.tool_validation,
    deliveries: read.delivery,
  };
});

function iterations(
  written: ExecutionSpec["mode"] | null,
  count: number | null,
  fields: Fields,
): Pick<ExecutionSpec, "mode" | "max_iterations"> {
  const mode = written ?? (count !== null && count > 1 ? "iterative" : "one-shot");
  if (mode === "iterative") return { mode, max_iterations: count ?? 5 };
  if (count !== null && count > 1) {
    const key = fields.has("max_iterations") ? "max_iterations" : "max_retries";
    fields.warn(key, "max_iterations_ignored", "A one-shot agent has one iteration");
  }
  return { mode, max_iterations: 1 };
}
