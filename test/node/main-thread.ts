/** How long work holds the main thread of a node, whatever else the machine does meanwhile. */

import { join } from "node:path";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import type { TestStores } from "../harness/stores.ts";
import { ownTime } from "./own-time.ts";

const tries = 6;

/** A port that was free a moment ago. */
function freePort(): number {
  const server = Bun.serve({ port: 0, fetch: () => new Response() });
  const { port } = server;
  server.stop(true);
  return port ?? 0;
}

/** Milliseconds that a fixed piece of work takes on this machine now, once it has a processor. */
function pace(): number {
  const began = ownTime();
  let sum = 0;
  for (let index = 0; index < 20_000_000; index += 1) sum = (sum * 31 + index) | 0;
  return ownTime() - began + (sum === 1 ? 1 : 0);
}

/** A sixtieth of the time after which the node would lose its actors. */
export const boundMs = 100;

/** A node that tells how long its main thread was held. */
export class MeasuredNode {
  /** The longest hold that was read so far, ms. */
  longest = 0;
  /** The longest that the node's own series showed at the same readings, ms. */
  longestShown = 0;

  private constructor(
    readonly node: NodeProcess,
    private readonly metricsPort: number,
    /** The machine's pace at its best. */
    private readonly bestPace: number,
  ) {}

  static async start(stores: TestStores): Promise<MeasuredNode> {
    const port = freePort();
    const env = { SVC_METRICS_ENABLED: "true", SVC_METRICS_PORT: String(port) };
    const node = await startNodeProcess(stores, { env, program: "test/node/measured-node-program.ts" });
    const measured = new MeasuredNode(node, port, Math.min(...Array.from({ length: 10 }, pace)));
    // Its start does not count.
    await measured.held();
    return Object.assign(measured, { longest: 0, longestShown: 0 });
  }

  /** Longest hold since the last call, ms. */
  async held(): Promise<number> {
    const shown = await (await fetch(`http://127.0.0.1:${this.metricsPort}/metrics`)).text();
    const held = await (await fetch("http://node/", { unix: join(this.node.dataDir, "held") })).json();
    this.longest = Math.max(this.longest, Number(held));
    const seconds = /^svc_event_loop_delay_max_seconds (\S+)$/m.exec(shown)?.[1];
    this.longestShown = Math.max(this.longestShown, Number(seconds) * 1000);
    return Number(held);
  }

  /**
   * How long the work holds the main thread, ms, on a machine that has nothing else to do: the least of several
   * measurements, each that is too long counted by what the machine's pace was around it.
   */
  async holds(work: () => Promise<unknown>): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < tries && least > boundMs; round += 1) {
      await this.held();
      await work();
      const held = await this.held();
      least = Math.min(least, held < boundMs ? held : held / Math.max(1, pace() / this.bestPace));
    }
    return least;
  }
}
