/** What the daemon counts, and the page that shows it where `metrics.listen` is set. */

/** Values of the moment, read when the page is asked for. */
export interface MetricsNow {
  readonly isConnected: () => boolean;
  readonly running: () => number;
}

export class DaemonMetrics {
  readonly #commands = new Map<string, number>();
  reconnects = 0;
  outputDropped = 0;
  journalErrors = 0;

  /** @param tool as it was asked for: only tools that hosts have are named */
  ended(tool: string, status: string): void {
    const known = /^(cmd\.run|fs\.[a-z_]{2,12})$/.test(tool) ? tool : "other";
    const labels = `{tool="${known}",status="${status}"}`;
    this.#commands.set(labels, (this.#commands.get(labels) ?? 0) + 1);
  }

  /** In the text format of Prometheus. */
  page({ isConnected, running }: MetricsNow): string {
    const series: readonly (readonly [name: string, type: string, help: string, values: readonly string[]])[] = [
      ["connected", "gauge", "Whether the service has welcomed the daemon", [` ${Number(isConnected())}`]],
      ["reconnects_total", "counter", "Connections begun after the first", [` ${this.reconnects}`]],
      ["running", "gauge", "Commands under way", [` ${running()}`]],
      [
        "commands_total",
        "counter",
        "Commands that ended",
        [...this.#commands].map(([labels, count]) => `${labels} ${count}`),
      ],
      ["output_dropped_bytes_total", "counter", "Output that was not sent while it ran", [` ${this.outputDropped}`]],
      ["journal_errors_total", "counter", "Times that the journal became unwritable", [` ${this.journalErrors}`]],
    ];
    return series
      .map(([name, type, help, values]) => {
        const full = `svc_edge_daemon_${name}`;
        return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${values.map((value) => `${full}${value}\n`).join("")}`;
      })
      .join("");
  }
}

/** Serves the page. @returns what ends it @throws where the address cannot be had */
export function serveMetrics(
  at: { readonly hostname: string; readonly port: number },
  page: () => string,
): { readonly port: number; stop(): void } {
  const server = Bun.serve({
    reusePort: false,
    ...at,
    fetch: (request) =>
      new URL(request.url).pathname === "/metrics"
        ? new Response(page(), { headers: { "Content-Type": "text/plain; version=0.0.4" } })
        : new Response("Not found\n", { status: 404 }),
  });
  return { port: server.port ?? at.port, stop: () => void server.stop(true) };
}
