/** Finds out what this host can hold agents with. */
import { existsSync } from "node:fs";
import { findOrInstall } from "../../lib/processes/system-package.ts";
import type { DockerSandboxOptions } from "./docker/docker-sandbox.ts";
import { registryGuard } from "./docker/images/registries.ts";
import type { Sandbox } from "./instance.ts";
import { trustedPath } from "./process/bubblewrap/bubblewrap.ts";
import { createProcessSandbox, SandboxUnavailable } from "./process/process-sandbox.ts";
import { type Isolation, Sandboxes } from "./sandboxes.ts";

export interface OpenSandboxesOptions {
  readonly dataDir: string;
  /** Without a wish, agents may run as processes even where bubblewrap cannot hold them, and it may be installed. */
  readonly development: boolean;
  /** SVC_SANDBOX; null: bubblewrap where it can be had. */
  readonly wanted: "bubblewrap" | "none" | null;
  /** Files and directories of the service beside its data directory, absolute. */
  readonly own: readonly string[];
  /** SVC_DOCKER_SOCKET */
  readonly dockerSocket: string;
  /** SVC_WARM_POOL_CAP */
  readonly warmPoolCap: number;
  /** SVC_IMAGE_REGISTRIES */
  readonly imageRegistries: readonly string[] | null;
  /** Every address of a name. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  readonly warn: (message: string) => void;
  /** One line about what takes long. */
  readonly progress: (line: string) => void;
}

/**
 * @throws SandboxUnavailable when there is neither a container engine nor a way to hold processes, or not the one that is
 *   wanted
 */
export async function openSandboxes(options: OpenSandboxesOptions): Promise<Sandboxes> {
  const { dataDir, development, wanted, own, warn, progress, dockerSocket: socket, warmPoolCap } = options;
  const mayReach = registryGuard(options.imageRegistries, options.resolve);
  const docker = await dockerSandbox({ socket, dataDir, warmPoolCap, mayReach, warn });
  if (development && wanted !== "none") await installBubblewrap(progress);
  try {
    const process = await createProcessSandbox({
      dataDir,
      bubblewrap: wanted !== "none",
      allowUnsandboxed: wanted === "none" || (development && wanted === null),
      hostPrograms: development,
      own,
      warn,
    });
    return new Sandboxes(docker === null ? [process] : [process, docker]);
  } catch (error) {
    if (docker === null || wanted === "bubblewrap" || !(error instanceof SandboxUnavailable)) throw error;
    return new Sandboxes([docker]);
  }
}

/** A development machine gets it like the other programs that it lacks; whether it works there is found out later. */
async function installBubblewrap(progress: (line: string) => void): Promise<void> {
  if (process.platform !== "linux") return;
  const packages = { apt: "bubblewrap", brew: null, dnf: "bubblewrap", apk: "bubblewrap" };
  await findOrInstall({ program: "bwrap", packages, path: trustedPath, root: process.getuid?.() === 0, log: progress });
}

/** Null where no engine answers. Its client is large: a node without an engine never loads it. */
async function dockerSandbox(options: DockerSandboxOptions): Promise<Sandbox | null> {
  // Mounts, fifos and the loader of our programs exist on Linux only.
  if (process.platform !== "linux" || !existsSync(options.socket)) return null;
  const { createDockerSandbox } = await import("./docker/docker-sandbox.ts");
  return createDockerSandbox(options);
}

/**
 * What `inherit` means on this node.
 * @param wanted SVC_RUNTIME_DEFAULT; null: docker where a container engine answers, else process
 * @returns null when this node does not offer what is wanted
 */
export function defaultIsolation(sandboxes: Sandboxes, wanted: Isolation | null): Isolation | null {
  const { offered } = sandboxes;
  const isolation = wanted ?? (offered.includes("docker") ? "docker" : "process");
  return offered.includes(isolation) ? isolation : null;
}
