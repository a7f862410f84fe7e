/** Prometheus series, and the listener of their own on which they are read. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";

export interface Metrics {
  /** Features register their own series here. */
  readonly registry: Registry;
  request(method: string, pathTemplate: string, status: number, seconds: number): void;
}

export function createMetrics(node: { readonly id: string; readonly version: string }): Metrics {
  const registry = new Registry();
  const requests = new Counter({
    name: "svc_http_requests_total",
    help: "Requests answered",
    labelNames: ["method", "path_template", "status_code"],
    registers: [registry],
  });
  const durations = new Histogram({
    name: "svc_http_request_duration_seconds",
    help: "Time until the answer's head was ready",
    labelNames: ["method", "path_template"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  new Gauge({
    name: "svc_node_info",
    help: "This node",
    labelNames: ["node", "version"],
    registers: [registry],
  }).set({ node: node.id, version: node.version }, 1);
  /** Found once: looking a series up by its labels costs more than adding to it. As many as there are series. */
  const known = new Map<
    string,
    { readonly requests: Counter.Internal; readonly durations: Histogram.Internal<string> }
  >();
  return {
    registry,
    request(method, path_template, status, seconds) {
      const name = `${method} ${path_template} ${status}`;
      let found = known.get(name);
      if (found === undefined) {
        found = {
          requests: requests.labels({ method, path_template, status_code: status }),
          durations: durations.labels({ method, path_template }),
        };
        known.set(name, found);
      }
      found.requests.inc();
      found.durations.observe(seconds);
    },
  };
}

/** @returns the port it got and a way to end it */
export function serveMetrics(
  metrics: Metrics,
  hostname: string,
  port: number,
): { port: number; stop(): Promise<void> } {
  const server = Bun.serve({
    reusePort: false,
    hostname,
    port,
    async fetch(request) {
      if (!URL.canParse(request.url)) return new Response("Malformed Host or target\n", { status: 400 });
      if (new URL(request.url).pathname !== "/metrics") return new Response("Not found\n", { status: 404 });
      if (request.method !== "GET" && request.method !== "HEAD") {
        return new Response("Method not allowed\n", { status: 405, headers: { Allow: "GET, HEAD" } });
      }
      return new Response(await metrics.registry.metrics(), {
        headers: { "Content-Type": metrics.registry.contentType },
      });
    },
  });
  return { port: server.port ?? port, stop: () => server.stop(true) };
}
