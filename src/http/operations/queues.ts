/** What waits on a node, as series: each queue and buffer under a name of its own (docs/reference/bounds.md). */
import { Gauge, type Metric } from "prom-client";

export interface Queue {
  /** The label. */
  readonly name: string;
  /** How many wait now. Cheap: it is asked with each reading of the metrics. */
  readonly depth?: () => number;
  /** Bytes or characters of them. */
  readonly bytes?: () => number;
}

/** @throws when two queues have one name */
export function queueMetrics(queues: readonly Queue[]): readonly Metric[] {
  const names = queues.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new Error(`two queues have one name: ${names.join(", ")}`);
  const registers: [] = [];
  const depth = new Gauge({
    name: "svc_queue_depth",
    help: "What waits on this node, by queue",
    labelNames: ["queue"],
    registers,
    collect() {
      for (const { name, depth } of queues) if (depth !== undefined) this.set({ queue: name }, depth());
    },
  });
  const bytes = new Gauge({
    name: "svc_queue_bytes",
    help: "Bytes of what waits on this node, by queue, and of the actors' states that it keeps",
    labelNames: ["queue"],
    registers,
    collect() {
      for (const { name, bytes } of queues) if (bytes !== undefined) this.set({ queue: name }, bytes());
    },
  });
  return [depth, bytes];
}
