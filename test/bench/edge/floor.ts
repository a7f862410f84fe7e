/** The bare server of links, with as many simulated daemons: the floors of the edge bench. */
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { cpuMs } from "../nodes.ts";
import { residentMiB } from "../service.ts";
import type { BenchStores } from "../stores.ts";
import { SimulatedFleet, spawnTold } from "./fleet.ts";
import { newHost, writeHosts } from "./hosts.ts";

export interface Floors {
  /** Of one open socket. */
  readonly kib: number;
  /** A command to all and all results, in memory: seconds, and CPU each, µs, of server and daemons. */
  readonly commandSeconds: number;
  readonly commandCpu: number;
  readonly commandDaemonCpu: number;
  /** Hellos verified and answered: a second; CPU each, µs, of server and daemons. */
  readonly helloSeconds: number;
  readonly helloCpu: number;
  readonly helloDaemonCpu: number;
}

interface Bare {
  readonly pid: number;
  readonly url: string;
  readonly pins: readonly { readonly kid: string; readonly public_key: string }[];
  /** Invokes on all links. Resolves once all results are there. */
  invoke(): Promise<void>;
  stop(): Promise<void>;
}

type Said =
  | { readonly said: "listening"; readonly port: number; readonly kid: string; readonly publicKey: string }
  | { readonly said: "done" };

async function startBare(): Promise<Bare> {
  const key = generateKeyPairSync("ed25519").privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");
  const listening = Promise.withResolvers<Extract<Said, { said: "listening" }>>();
  let done = Promise.withResolvers<void>();
  const hear = (message: unknown) => {
    const said = message as Said;
    if (said.said === "listening") listening.resolve(said);
    else done.resolve();
  };
  const child = spawnTold(join(import.meta.dir, "../floors/bare-links.ts"), hear, { FLOOR_KEY: key });
  const { port, kid, publicKey } = await listening.promise;
  return {
    pid: child.pid,
    url: `ws://127.0.0.1:${port}`,
    pins: [{ kid, public_key: publicKey }],
    invoke() {
      done = Promise.withResolvers<void>();
      child.send("invoke");
      return done.promise;
    },
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

const rounds = 3;

/** @param work least and most milliseconds that a command takes */
export async function measureFloors(
  stores: BenchStores,
  count: number,
  work: readonly [number, number],
  perSecond: number,
): Promise<Floors> {
  const hosts = Array.from({ length: count }, (_, index) => newHost(index));
  const hostsFile = writeHosts(stores, "floor-hosts", hosts);
  const kib = await bareSockets(hostsFile, count, perSecond);
  const bare = await startBare();
  const fleet = await SimulatedFleet.begin({ hostsFile, pins: bare.pins, urls: [bare.url], work });
  try {
    const before = { server: cpuMs(bare.pid), daemons: fleet.cpu() };
    const began = performance.now();
    fleet.order({ order: "connect", perSecond: 100_000 });
    await fleet.until("all hosts welcomed by the floor", ({ welcomed }) => welcomed === count, 120_000);
    const helloSeconds = (performance.now() - began) / 1000;
    const welcomed = { server: cpuMs(bare.pid), daemons: fleet.cpu() };
    const startedAt = performance.now();
    for (let round = 0; round < rounds; round++) await bare.invoke();
    const commandSeconds = (performance.now() - startedAt) / 1000 / rounds;
    const after = { server: cpuMs(bare.pid), daemons: fleet.cpu() };
    const { unsound } = await fleet.counts();
    if (unsound > 0) throw new Error(`${unsound} unsound frames at the floor`);
    const each = (ms: number, of: number) => (ms * 1000) / of;
    return {
      ...{ kib, commandSeconds, helloSeconds },
      commandCpu: each(after.server - welcomed.server, rounds * count),
      commandDaemonCpu: each(after.daemons - welcomed.daemons, rounds * count),
      helloCpu: each(welcomed.server - before.server, count),
      helloDaemonCpu: each(welcomed.daemons - before.daemons, count),
    };
  } finally {
    await fleet.stop();
    await bare.stop();
  }
}

/** @returns KiB that the server grew by for each */
async function bareSockets(hostsFile: string, count: number, perSecond: number): Promise<number> {
  const bare = await startBare();
  const fleet = await SimulatedFleet.begin({ hostsFile, pins: bare.pins, urls: [`${bare.url}/bare`], work: [0, 0] });
  try {
    const before = await residentMiB(bare.pid);
    fleet.order({ order: "connect", perSecond });
    await fleet.until("all sockets open", ({ open }) => open === count, 180_000);
    await Bun.sleep(3_000);
    return ((await residentMiB(bare.pid)) - before) * (1024 / count);
  } finally {
    await fleet.stop();
    await bare.stop();
  }
}
