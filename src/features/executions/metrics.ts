/** What Prometheus is told of executions and of the work that waits. Never by tenant: names of tenants are nobody else's business. */
import { Gauge, type Registry } from "prom-client";
import type { Runtime } from "../../runtime/port.ts";

export interface ExecutionCounts {
  countUnfinished(): Promise<readonly { readonly status: string; readonly count: number }[]>;
}

/** Values are read when they are asked for. */
export function registerExecutionSeries(
  registry: Registry,
  records: ExecutionCounts,
  runtime: Pick<Runtime, "counts">,
): void {
  new Gauge({
    name: "svc_executions",
    help: "Executions that have not ended, of all nodes",
    labelNames: ["status"],
    registers: [registry],
    async collect() {
      // A store that is away costs this series, not the whole page.
      const rows = await records.countUnfinished().catch(() => null);
      this.reset();
      for (const { status, count } of rows ?? []) this.set({ status }, count);
    },
  });
  new Gauge({
    name: "svc_queue_depth",
    help: "Work of this node that waits: messages read but not handled, activities without a slot",
    labelNames: ["queue"],
    registers: [registry],
    collect() {
      const { backlog, activitiesWaiting } = runtime.counts();
      this.set({ queue: "mailbox" }, backlog);
      this.set({ queue: "activities" }, activitiesWaiting);
    },
  });
  new Gauge({
    name: "svc_dead_letters_total",
    help: "Messages this node put aside since it started",
    registers: [registry],
    collect() {
      this.set(runtime.counts().deadLetters);
    },
  });
}
