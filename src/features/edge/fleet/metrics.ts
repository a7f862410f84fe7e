/** Metrics of fleet runs. */
import { Counter } from "prom-client";

export function fleetMetrics() {
  const runs = new Counter({
    name: "svc_edge_fleet_runs_total",
    help: "Fleet runs that ended, by how",
    labelNames: ["outcome"],
    registers: [],
  });
  const skipped = new Counter({
    name: "svc_edge_targets_skipped_total",
    help: "Hosts that fleet runs left out, by why",
    labelNames: ["reason"],
    registers: [],
  });
  return {
    all: [runs, skipped],
    ended: (outcome: string): void => runs.inc({ outcome }),
    skipped: (of: readonly { readonly reason: string }[]): void => {
      for (const { reason } of of) skipped.inc({ reason });
    },
  };
}
