/** `spec.execution` and `spec.security.resources`: how often, how long and how much. */

import type { Fields } from "../../manifest/fields.ts";
import { readBytes, readDuration, readMillicores } from "../../manifest/quantities.ts";
import { readDeliveries } from "./delivery.ts";
import { readToolJudges } from "./judges.ts";
import type { ExecutionSpec, NodeOffer, ResourceSpec } from "./spec.ts";
import { readValidators } from "./validation.ts";

const second = 1000;
/** Of a token budget: more than any execution could use. */
const maxTokens = 1_000_000_000;
const Mi = 2 ** 20;
const Gi = 2 ** 30;
const Ti = 2 ** 40;

/** @param timeoutMs of the whole execution: no iteration may be given longer */
export function readExecution(spec: Fields, timeoutMs: number): ExecutionSpec {
  const fields = spec.section("execution");
  const iterations = readIterations(fields);
  const timeoutBounds = { min: second, max: timeoutMs };
  const iterationTimeout = fields.measure(
    "iteration_timeout",
    readDuration,
    "duration",
    timeoutBounds,
    "1 s to the timeout of the whole execution",
  );
  const read = {
    ...iterations,
    iteration_timeout_ms: iterationTimeout ?? Math.min(600 * second, timeoutMs),
    llm_timeout_ms: (fields.integer("llm_timeout_seconds", { min: 1, max: 3600 }) ?? 300) * second,
    max_tokens: fields.integer("max_tokens", { min: 1, max: maxTokens }),
    validators: readValidators(fields),
    tool_judges: readToolJudges(fields),
    deliveries: readDeliveries(fields),
  };
  if (fields.flag("memory")) fields.warn("memory", "reserved_field", "This field is reserved and has no effect yet");
  fields.close();
  return read;
}

function readIterations(fields: Fields): Pick<ExecutionSpec, "mode" | "max_iterations"> {
  const written = fields.choice("mode", ["one-shot", "iterative"]);
  const alias = fields.integer("max_retries", { min: 1, max: 20 });
  const count = fields.integer("max_iterations", { min: 1, max: 20 }) ?? alias;
  const mode = written ?? (count !== null && count > 1 ? "iterative" : "one-shot");
  if (mode === "iterative") return { mode, max_iterations: count ?? 5 };
  if (count !== null && count > 1) {
    const key = fields.has("max_iterations") ? "max_iterations" : "max_retries";
    fields.warn(key, "max_iterations_ignored", "A one-shot agent has one iteration");
  }
  return { mode, max_iterations: 1 };
}

export function readResources(security: Fields, offer: NodeOffer): ResourceSpec {
  const fields = security.section("resources");
  const ceiling = offer.maxExecutionSeconds * second;
  const read = {
    cpu_millicores:
      fields.measure("cpu", readMillicores, "processor share", { min: 50, max: 64_000 }, "50 to 64000 millicores") ??
      1000,
    memory_bytes:
      fields.measure("memory", readBytes, "quantity", { min: 16 * Mi, max: 256 * Gi }, "16Mi to 256Gi") ?? 512 * Mi,
    disk_bytes: fields.measure("disk", readBytes, "quantity", { min: 16 * Mi, max: Ti }, "16Mi to 1Ti") ?? Gi,
    timeout_ms:
      fields.measure(
        "timeout",
        readDuration,
        "duration",
        { min: second, max: ceiling },
        `1 s to this node's ceiling of ${offer.maxExecutionSeconds} s`,
      ) ?? Math.min(1800 * second, ceiling),
  };
  fields.close();
  return read;
}
