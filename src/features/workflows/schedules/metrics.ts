/** What Prometheus is told of schedules; never by tenant. */
import { Counter, Gauge, type Metric } from "prom-client";
import type { ScheduleRecords } from "./records.ts";

export interface ScheduleMetrics {
  readonly metrics: readonly Metric[];
  count(outcome: "started" | "refused"): void;
}

/** Values of the gauge are read when they are asked for. */
export function scheduleMetrics(records: Pick<ScheduleRecords, "count">): ScheduleMetrics {
  const registers: [] = [];
  const schedules = new Gauge({
    name: "svc_workflow_schedules",
    help: "Schedules of workflows, of all nodes",
    labelNames: ["state"],
    registers,
    async collect() {
      // A store that is away costs this series, not the whole page.
      const counts = await records.count().catch(() => null);
      this.reset();
      for (const [state, count] of Object.entries(counts ?? {})) this.set({ state }, count);
    },
  });
  const starts = new Counter({
    name: "svc_workflow_schedule_starts_total",
    help: "Starts by schedules of workflows on this node",
    labelNames: ["outcome"],
    registers,
  });
  return { metrics: [schedules, starts], count: (outcome) => starts.inc({ outcome }) };
}
