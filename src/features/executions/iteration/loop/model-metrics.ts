/** The metrics of model calls. Providers and models are the operator's words, so their labels are as many as the file has. */
import { Counter, Histogram, type Metric } from "prom-client";
import { ModelError, type ModelReply } from "../../../../adapters/models/port.ts";
import { modelWarnings } from "./model-warnings.ts";

export interface ModelMetrics {
  readonly metrics: readonly Metric[];
  answered(reply: ModelReply): void;
  /** Ignores what is no failure of a model: a call that was given up. */
  failed(error: unknown): void;
}

export function createModelMetrics(): ModelMetrics {
  const registers: [] = [];
  const labelNames = ["provider", "model"] as const;
  const calls = new Counter({
    name: "svc_llm_calls_total",
    help: "Model calls by the provider and model that ended them: answered, or the class of the failure",
    labelNames: [...labelNames, "outcome"],
    registers,
  });
  const attempts = new Counter({
    name: "svc_llm_attempts_total",
    help: "Requests to vendors that model calls took, repeats and fallbacks included",
    labelNames,
    registers,
  });
  const durations = new Histogram({
    name: "svc_llm_call_duration_seconds",
    help: "Time of model calls with their repeats and fallbacks",
    labelNames,
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 300],
    registers,
  });
  const tokens = new Counter({
    name: "svc_llm_tokens_total",
    help: "Tokens of answered model calls, as the vendor counts or a quarter of the bytes",
    labelNames: [...labelNames, "direction"],
    registers,
  });
  const cost = new Counter({
    name: "svc_llm_cost_usd_total",
    help: "What answered model calls cost at the configured prices",
    labelNames,
    registers,
  });
  const warnings = new Counter({
    name: "svc_llm_warnings_total",
    help: "Answers that are not as they were asked for: fallback, cut, filtered, not streamed",
    labelNames: [...labelNames, "code"],
    registers,
  });
  return {
    metrics: [calls, attempts, durations, tokens, cost, warnings],
    answered(reply) {
      const { provider, model, usage } = reply;
      const labels = { provider, model };
      calls.inc({ ...labels, outcome: "answered" });
      attempts.inc(labels, reply.attempts);
      durations.observe(labels, reply.elapsedMs / 1000);
      tokens.inc({ ...labels, direction: "input" }, usage.input_tokens);
      tokens.inc({ ...labels, direction: "output" }, usage.output_tokens);
      cost.inc(labels, reply.costUsd);
      for (const { code } of modelWarnings(reply)) warnings.inc({ ...labels, code });
    },
    failed(error) {
      if (!(error instanceof ModelError)) return;
      const { provider, model, attempts: made, elapsedMs } = error.facts;
      const labels = { provider, model };
      calls.inc({ ...labels, outcome: error.errorClass });
      attempts.inc(labels, made);
      durations.observe(labels, elapsedMs / 1000);
    },
  };
}
