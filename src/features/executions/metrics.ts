/** The metrics of executions and of messages put aside. Never by tenant: the page must not reveal tenants to one another. */
import { Gauge, type Metric } from "prom-client";
import type { Runtime } from "../../runtime/port.ts";

export interface ExecutionCounts {
  countUnfinished(): Promise<readonly { readonly status: string; readonly count: number }[]>;
}

/** Values are read when they are asked for. */
export function executionMetrics(
  records: ExecutionCounts,
  runtime: Pick<Runtime, "counts" | "waitingForVersion">,
): readonly Metric[] {
  const registers: [] = [];
  const unfinished = new Gauge({
    name: "svc_executions",
    help: "Executions that have not ended, of all nodes",
    labelNames: ["status"],
    registers,
    async collect() {
      // A store that is away costs this series, not the whole page.
      const rows = await records.countUnfinished().catch(() => null);
      this.reset();
      for (const { status, count } of rows ?? []) this.set({ status }, count);
    },
  });
  const deadLetters = new Gauge({
    name: "svc_dead_letters_total",
    help: "Messages this node put aside since it started",
    registers,
    collect() {
      this.set(runtime.counts().deadLetters);
    },
  });
  const parked = new Gauge({
    name: "svc_messages_waiting_for_version",
    help: "Messages and effects that wait for a node of a version that knows them, of all nodes",
    registers,
    async collect() {
      const count = await runtime.waitingForVersion().catch(() => null);
      if (count === null) this.remove();
      else this.set(count);
    },
  });
  return [unfinished, deadLetters, parked];
}
