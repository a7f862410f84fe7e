/** Daemons as they are on hosts: processes of their own, with a state directory, against a service or its floor. */
import { createPrivateKey } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { profileText } from "../../../src/programs/edge-daemon/config/profiles.ts";
import { prepare, replaceFile, stateAt } from "../../../src/programs/edge-daemon/state/directory.ts";
import { writeIdentity } from "../../../src/programs/edge-daemon/state/identity.ts";
import { until } from "../../harness/until.ts";
import type { BenchStores } from "../stores.ts";
import type { Row } from "../table.ts";
import { allowAll, runToAll } from "./commands.ts";
import { linkUrl, openScene } from "./scene.ts";
import type { ServiceKeyPin, SimulatedHost } from "./simulated/orders.ts";

const program = join(import.meta.dir, "../../programs/edge-daemon/daemon-program.ts");
const count = 100;
/** Begun at once. */
const atOnce = 5;
const settleMs = 9_000;

/** A hundred daemons of the built program, connected to one node, and a command to all of them. */
export async function realDaemonRows(stores: BenchStores): Promise<Row[]> {
  const scene = await openScene(stores, "edge_real", count, 1);
  const folder = join(stores.dataDir, "real-daemons");
  const file = built(folder);
  const service = { url: linkUrl(scene.node), pins: scene.hosts.pins };
  const daemons: RealDaemon[] = [];
  const memory = () => daemons.map(({ pid }) => memoryOf(pid));
  try {
    for (const host of scene.hosts.hosts) {
      daemons.push(startDaemon(file, folder, host, service));
      if (daemons.length % atOnce === 0) await Bun.sleep(500);
    }
    const connected = async () => {
      const [row] = await scene.sql<{ connected: number }[]>`
        select count(*)::int as connected from edge_hosts where status = 'connected'`;
      return row?.connected === count;
    };
    await until(connected, { what: "all daemons connected", timeoutMs: 180_000, everyMs: 500 });
    await Bun.sleep(settleMs);
    const idle = memory();
    await allowAll(scene.node);
    const seconds = await runToAll(scene);
    const after = memory();
    const bareSeconds = await bareCommands();
    await Bun.sleep(settleMs);
    const row = (name: string, all: readonly Memory[], goal: string): Row => ({
      ...{ name, unit: "MiB", value: meanOf(all.map(({ residentMiB }) => residentMiB)), goal },
      ...{ floor: meanOf(all.map(({ ownMiB }) => ownMiB)), floorIs: "what of it is no page of a file" },
      note: `mean of ${count} at once, most ${Math.max(...all.map(({ residentMiB }) => residentMiB)).toFixed(1)}`,
    });
    return [
      row("a daemon, idle, resident", idle, "<= 40"),
      row("a daemon right after a command, resident", after, "–"),
      row("a daemon 9 s after a command, resident", memory(), "<= 40"),
      {
        ...{ name: `a command to ${count} daemons of their own processes`, unit: "s", value: seconds, goal: "–" },
        ...{ floor: bareSeconds, floorIs: "as many times uptime, all at once" },
        note: "cmd.run uptime, isolated by what the machine has",
      },
    ];
  } finally {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
    await scene.stop();
  }
}

async function bareCommands(): Promise<number> {
  const began = performance.now();
  await Promise.all(Array.from({ length: count }, () => Bun.spawn(["uptime"], { stdout: "ignore" }).exited));
  return (performance.now() - began) / 1000;
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The daemon as one file, built as the edge program is. @returns its path */
function built(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "daemon");
  const flags = ["--compile", "--minify-whitespace", "--minify-syntax", "--splitting", "--format=esm"];
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "build", ...flags, "--outfile", file, program]);
  if (exitCode !== 0) throw new Error(`the daemon was not built: ${stderr}`);
  return file;
}

interface RealDaemon {
  readonly pid: number;
  stop(): Promise<void>;
}

/** @param url of the link */
function startDaemon(
  file: string,
  folder: string,
  { id, key, publicKey }: SimulatedHost,
  service: { readonly url: string; readonly pins: readonly ServiceKeyPin[] },
): RealDaemon {
  const state = stateAt(join(folder, id));
  prepare(state);
  const pem = createPrivateKey({ key: Buffer.from(key, "base64"), format: "der", type: "pkcs8" });
  replaceFile(state.key, pem.export({ type: "pkcs8", format: "pem" }).toString());
  replaceFile(state.config, profileText("standard"));
  writeIdentity(state, {
    ...{ node_id: id, tenant_id: "svc-system", name: publicKey.slice(0, 8), connect_url: service.url },
    api_url: service.url.replace(/^ws/, "http").replace(/\/v1\/.*$/, ""),
    enrolled_at: new Date().toISOString(),
    service_keys: [...service.pins],
  });
  const child = Bun.spawn([file, "--state-dir", state.path], {
    ...{ stdin: "ignore", stdout: "ignore", stderr: "ignore" },
    env: { PATH: process.env.PATH ?? "", HOME: state.work },
  });
  return {
    pid: child.pid,
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Of a process, MiB: resident, and what of it is no page of a file. */
interface Memory {
  readonly residentMiB: number;
  readonly ownMiB: number;
}

function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? Number.NaN) / 1024;
  return { residentMiB: of("Rss"), ownMiB: of("Anonymous") };
}
