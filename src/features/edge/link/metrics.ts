/** The metrics of links. Never by tenant or host: the page must not reveal tenants to one another. */
import { Counter, Gauge, Histogram, type Metric } from "prom-client";
import { startWithinMs } from "../../../../actors/edge-host/deadlines.ts";
import type { HostState } from "../../../../actors/edge-host/state.ts";
import type { Sql } from "../../../store/postgres/pool.ts";

export type LinkMetrics = ReturnType<typeof createMetrics>;

export interface MetricsOptions {
  readonly sql: Sql;
  /** Sockets of this node that are not welcomed yet. */
  readonly beforeHello: () => number;
  /** Incidents that this node reported, by category. */
  readonly incidents: () => ReadonlyMap<string, number>;
}

const registers: [] = [];
const seconds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

export function createMetrics({ sql, beforeHello, incidents }: MetricsOptions) {
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name: `svc_edge_${name}`, help, labelNames: [...labelNames], registers });
  const handshakes = counter("handshakes_total", "Daemons that said hello to this node", ["result"]);
  const heartbeats = counter("heartbeats_total", "Heartbeats of daemons at this node");
  const frames = counter("frames_total", "Frames of links of this node", ["direction", "type"]);
  const commands = counter("commands_total", "Commands that ended by commits of this node", ["tool", "status"]);
  const dropped = counter("output_dropped_bytes_total", "Bytes of output that came and were not passed on");
  const wakeups = counter(
    "wakeups_repeated_total",
    "Hosts whose frames were not sent within 5 s, and were looked at again",
  );
  const duration = new Histogram({
    name: "svc_edge_command_duration_seconds",
    help: "How long commands ran, as their daemons say",
    labelNames: ["tool"],
    buckets: seconds,
    registers,
  });
  const delay = new Histogram({
    name: "svc_edge_dispatch_delay_seconds",
    help: "From the turn of a command to the commit that sends it",
    buckets: seconds,
    registers,
  });
  const hosts = counted("hosts", "Hosts of all tenants that are not revoked", "status", () => {
    return sql`select status as label, count(*)::int as count from edge_hosts where revoked_at is null group by status`;
  });
  const notAccepting = counted("hosts_not_accepting", "Hosts that get no new commands", "reason", () => {
    return sql`select reason as label, count(*)::int as count from edge_hosts, unnest(not_accepting) as reason
      where revoked_at is null group by reason`;
  });
  const fresh = new Gauge({
    name: "svc_edge_sockets_before_hello",
    help: "Sockets of this node whose daemons have not said who they are, or are not welcomed yet",
    registers,
    collect() {
      this.set(beforeHello());
    },
  });
  const reported = new Gauge({
    name: "svc_edge_incidents_total",
    help: "Incidents about hosts that this node reported since it started",
    labelNames: ["category"],
    registers,
    collect() {
      for (const [category, count] of incidents()) if (category.startsWith("edge_")) this.set({ category }, count);
    },
  });
  const all: readonly Metric[] = [
    ...[handshakes, heartbeats, frames, commands, dropped, wakeups, duration, delay],
    ...[hosts, notAccepting, fresh, reported],
  ];
  return { all, handshakes, heartbeats, frames, commands, dropped, wakeups, duration, delay };
}

/** Of all nodes, read as it is asked for. */
function counted(
  name: string,
  help: string,
  label: string,
  read: () => PromiseLike<readonly unknown[]>,
): Gauge<string> {
  return new Gauge({
    name: `svc_edge_${name}`,
    help,
    labelNames: [label],
    registers,
    async collect() {
      // A store that is away costs this series, not the whole page.
      const rows = await Promise.resolve(read()).catch(() => null);
      this.reset();
      // What the statement names.
      for (const row of (rows ?? []) as readonly { readonly label: string; readonly count: number }[])
        this.set({ [label]: row.label }, row.count);
    },
  });
}

/** Counts what a commit made of a host's commands. */
export function observe(metrics: LinkMetrics, before: HostState | null, after: HostState): void {
  const ended = new Set(before?.ended.map(({ id }) => id));
  for (const { id, tool, status, duration_ms } of after.ended) {
    if (ended.has(id)) continue;
    metrics.commands.inc({ tool, status });
    if (duration_ms !== null) metrics.duration.observe({ tool }, duration_ms / 1000);
  }
  const sent = new Map(before?.commands.map(({ command_id, not_after }) => [command_id, not_after]));
  for (const { command_id, not_after, turn_at } of after.commands)
    if (not_after !== null && sent.get(command_id) !== not_after)
      metrics.delay.observe(Math.max(0, not_after - startWithinMs - turn_at) / 1000);
}
