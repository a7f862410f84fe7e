/** A program of simulated daemons as a bench sees it: a process of its own, so that its CPU time is told apart. */
import { join } from "node:path";
import { until } from "../../harness/until.ts";
import { cpuMs } from "../nodes.ts";
import type { Counts, Order, Said, ServiceKeyPin } from "./simulated/orders.ts";

export interface FleetOptions {
  readonly hostsFile: string;
  readonly pins: readonly ServiceKeyPin[];
  /** Of WebSockets. */
  readonly urls: readonly string[];
  /** Least and most milliseconds that a command takes. */
  readonly work: readonly [number, number];
}

/** Starts a program of Bun with a channel to it. Bun itself raises its limit of open files to what the system allows. */
export function spawnTold(
  program: string,
  onMessage: (message: unknown) => void,
  env: Readonly<Record<string, string>> = {},
): Bun.Subprocess {
  return Bun.spawn([process.execPath, program], {
    ...{ stdout: "inherit", stderr: "inherit", stdin: "ignore", ipc: onMessage },
    env: { PATH: process.env.PATH ?? "", ...env },
  });
}

export class SimulatedFleet {
  readonly #asked = new Map<number, (answer: unknown) => void>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #child: Bun.Subprocess;
  #questions = 0;

  private constructor() {
    const program = join(import.meta.dir, "simulated/program.ts");
    this.#child = spawnTold(program, (message) => this.#hear(message as Said));
  }

  static async begin(options: FleetOptions): Promise<SimulatedFleet> {
    const fleet = new SimulatedFleet();
    fleet.order({ order: "begin", ...options });
    await fleet.#ready.promise;
    return fleet;
  }

  order(order: Order): void {
    this.#child.send(order);
  }

  /** Milliseconds that the program has used. */
  cpu = (): number => cpuMs(this.#child.pid);

  counts = (): Promise<Counts> => this.#ask("counts") as Promise<Counts>;

  /** How long the last 10,000 welcomes took, from opening the socket, ms. */
  waits = (): Promise<readonly number[]> => this.#ask("waits") as Promise<readonly number[]>;

  #ask(order: "counts" | "waits"): Promise<unknown> {
    const id = this.#questions++;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#asked.set(id, resolve);
    this.order({ order, id });
    return promise;
  }

  /** @returns milliseconds until the counts were so */
  async until(what: string, holds: (counts: Counts) => boolean, timeoutMs: number): Promise<number> {
    const began = performance.now();
    let last: Counts | null = null;
    try {
      await until(
        async () => {
          last = await this.counts();
          return holds(last);
        },
        { what, timeoutMs, everyMs: 50 },
      );
    } catch (error) {
      throw new Error(`${String(error)}: ${JSON.stringify(last)}`);
    }
    return performance.now() - began;
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  #hear(said: Said): void {
    if (said.said === "ready") this.#ready.resolve();
    else {
      this.#asked.get(said.id)?.(said.said === "counts" ? said.counts : said.waits);
      this.#asked.delete(said.id);
    }
  }
}
