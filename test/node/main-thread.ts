/** How long work holds the main thread of a node, by the node's own measure of its event loop. */

const tries = 6;

/** A port that was free a moment ago. */
function freePort(): number {
  const server = Bun.serve({ port: 0, fetch: () => new Response() });
  const { port } = server;
  server.stop(true);
  return port ?? 0;
}

/** Milliseconds that a fixed piece of work takes on this machine now. */
function pace(): number {
  const began = performance.now();
  let sum = 0;
  for (let index = 0; index < 20_000_000; index += 1) sum = (sum * 31 + index) | 0;
  return performance.now() - began + (sum === 1 ? 1 : 0);
}

/** A sixtieth of the time after which the node would lose its actors. */
export const boundMs = 100;

export class MainThread {
  private readonly port = freePort();
  /** The machine's pace at its best. */
  private bestPace = 0;

  /** With what the node is started. */
  get env(): Readonly<Record<string, string>> {
    return { SVC_METRICS_ENABLED: "true", SVC_METRICS_PORT: String(this.port) };
  }

  /** Looks how quick the machine is. */
  begin(): void {
    this.bestPace = Math.min(...Array.from({ length: 20 }, pace));
  }

  /** Longest delay since the last call, ms. */
  async delay(): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.port}/metrics`)).text();
    return Number(/^svc_event_loop_delay_max_seconds (\S+)$/m.exec(text)?.[1]) * 1000;
  }

  /**
   * How long the work holds the main thread, ms, on a machine that has nothing else to do: the least of several
   * measurements, each counted by what the machine's pace was around it.
   */
  async holds(work: () => Promise<unknown>): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < tries && least > boundMs; round += 1) {
      await this.delay();
      await work();
      const held = await this.delay();
      least = Math.min(least, held / Math.max(1, pace() / this.bestPace));
    }
    return least;
  }
}
