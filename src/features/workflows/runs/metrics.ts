/** What Prometheus is told of runs; never by tenant. */
import { Gauge, type Registry } from "prom-client";
import type { RunRecords } from "./records.ts";

/** Values are read when they are asked for. */
export function registerRunSeries(registry: Registry, records: Pick<RunRecords, "countUnfinished">): void {
  new Gauge({
    name: "svc_workflow_executions",
    help: "Workflow executions that have not ended, of all nodes",
    labelNames: ["status"],
    registers: [registry],
    async collect() {
      // A store that is away costs this series, not the whole page.
      const rows = await records.countUnfinished().catch(() => null);
      this.reset();
      for (const { status, count } of rows ?? []) this.set({ status }, count);
    },
  });
}
