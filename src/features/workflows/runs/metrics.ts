/** What Prometheus is told of runs; never by tenant. */
import { Gauge, type Metric } from "prom-client";
import type { RunRecords } from "./records.ts";

/** Values are read when they are asked for. */
export function runMetrics(records: Pick<RunRecords, "countUnfinished">): readonly Metric[] {
  const unfinished = new Gauge({
    name: "svc_workflow_executions",
    help: "Workflow executions that have not ended, of all nodes",
    labelNames: ["status"],
    registers: [],
    async collect() {
      // A store that is away costs this series, not the whole page.
      const rows = await records.countUnfinished().catch(() => null);
      this.reset();
      for (const { status, count } of rows ?? []) this.set({ status }, count);
    },
  });
  return [unfinished];
}
