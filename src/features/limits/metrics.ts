/** What the metrics tell of rates. */
import { Counter, type Metric } from "prom-client";

export interface LimitMetrics {
  readonly metrics: readonly Metric[];
  /** A use was refused for a rate of this resource. */
  readonly refused: (resource: string) => void;
}

export function limitMetrics(): LimitMetrics {
  const refusals = new Counter({
    name: "svc_rate_limit_refusals_total",
    help: "Uses refused because a rate was used up, by resource",
    labelNames: ["resource"],
    registers: [],
  });
  return { metrics: [refusals], refused: (resource) => refusals.inc({ resource }) };
}
