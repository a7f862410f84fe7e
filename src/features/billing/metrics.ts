/** Metrics of billing. */
import { Counter } from "prom-client";

export function billingMetrics() {
  const events = new Counter({
    name: "svc_billing_events_total",
    help: "Events of the payment provider: received, duplicate or not_stored, then applied, ignored, unmatched, failed or dead",
    labelNames: ["outcome"],
    registers: [],
  });
  return {
    all: [events],
    counted: (outcome: string): void => events.inc({ outcome }),
  };
}
