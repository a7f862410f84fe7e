/** Daemons as they are on hosts: processes of their own, with a state directory, against a service or its floor. */
import { createPrivateKey } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { profileText } from "../../../src/programs/edge-daemon/config/profiles.ts";
import { prepare, replaceFile, stateAt } from "../../../src/programs/edge-daemon/state/directory.ts";
import { writeIdentity } from "../../../src/programs/edge-daemon/state/identity.ts";
import type { ServiceKeyPin, SimulatedHost } from "./simulated/orders.ts";

const program = join(import.meta.dir, "../../../src/programs/edge-cli/main.ts");

/** From its sources, as `npm run -s edge` starts it. */
export const fromSources: readonly string[] = [process.execPath, program, "edge"];

/** @returns the words that start the built program */
export async function builtProgram(folder: string): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  const release = join(import.meta.dir, "../../../src/programs/edge-cli/release/main.ts");
  const child = Bun.spawn([process.execPath, release, "build", "--json", "--out", folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`the edge program was not built: ${said}`);
  return [(JSON.parse(said) as { file: string }).file, "edge"];
}

export interface RealDaemon {
  readonly pid: number;
  stop(): Promise<void>;
}

/** @param url of the link */
export function startDaemon(
  words: readonly string[],
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
  const child = Bun.spawn([...words, "--state-dir", state.path], {
    ...{ stdin: "ignore", stdout: "ignore", stderr: "inherit" },
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

/** Memory of a process, MiB: resident, and what is its own alone (`ownMiB`), without what it shares with its file. */
export function memoryOf(pid: number): { readonly residentMiB: number; readonly ownMiB: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? Number.NaN) / 1024;
  return { residentMiB: of("Rss"), ownMiB: of("Anonymous") };
}
