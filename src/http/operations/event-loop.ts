/** How long this node's main thread was held: while it computes, no lease is renewed and no request answered. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

/** Milliseconds between two looks; a delay shorter than this shows as none. */
const resolution = 10;

/** Registers the longest delay of the event loop since the series was read last. */
export function watchEventLoop(registry: Registry): void {
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  new Gauge({
    name: "svc_event_loop_delay_max_seconds",
    help: "Longest time that the main thread was held since this was read last",
    registers: [registry],
    collect() {
      this.set(Number.isFinite(delays.max) ? delays.max / 1e9 : 0);
      delays.reset();
    },
  });
}
