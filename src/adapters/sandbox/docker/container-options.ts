/** What the engine is told of a container. Nothing here is secret: every client of the engine can read it. */
import { dirname, join } from "node:path";
import type { ContainerCreateOptions } from "dockerode";
import { socketFolder } from "../../../lib/sockets/tenant-sockets.ts";
import type { InstanceLimits, InstanceMount } from "../instance.ts";
import { instancePaths, readOnlyTemporaryBytes } from "../instance-environment.ts";
import type { ImageFacts } from "./engine.ts";
import { controlInside } from "./keeper/protocol.ts";
import type { ContainerPaths } from "./paths.ts";

const agentGroup = 1_000;
const periodMicros = 100_000;
/** Over what the keeper's frames can come to: the engine's own bound, should anything else write there. */
const logBytes = "16m";

/** Labels by which containers are told apart. */
export const labels = {
  data: "svc.data",
  instance: "svc.instance",
  execution: "svc.execution",
  tenant: "svc.tenant",
  warm: "svc.warm",
} as const;

/** Our programs inside, by their place below `programs`. */
const programsInside = "/run/svc/programs";
/** Where people and programs look for the bootstrap; a shell script, for what it needs is elsewhere. */
const bootstrapInside = "/usr/local/bin/svc-bootstrap";

export interface ContainerNeeds {
  readonly tenant: string;
  readonly image: ImageFacts;
  readonly labels: Readonly<Record<string, string>>;
  readonly limits: InstanceLimits;
  /** Shortest targets first. */
  readonly mounts: readonly InstanceMount[];
  readonly readOnlyRoot: boolean;
  /** A command's: without the gateway's sockets and the bootstrap; with a read-only root also without `/dev/shm`. */
  readonly isCommand: boolean;
  /** Its group is 1000 in any case. */
  readonly user: number;
  /** Whether the egress proxies' sockets are there. */
  readonly egress: boolean;
  /** Host directory of the fifos. */
  readonly control: string;
  /** Command of the keeper, as it is inside. */
  readonly command: readonly string[];
  /** Host path of the script behind `svc-bootstrap`. */
  readonly bootstrapScript: string;
}

export function containerOptions(needs: ContainerNeeds, paths: ContainerPaths): ContainerCreateOptions {
  const { limits, readOnlyRoot, image, isCommand } = needs;
  return {
    Image: image.id,
    Entrypoint: [...needs.command],
    Cmd: [],
    User: `${needs.user}:${agentGroup}`,
    WorkingDir: "/",
    Hostname: "sandbox",
    // What would change our own programs; the agent's gets its environment with its assignment.
    Env: ["LD_PRELOAD=", "LD_AUDIT=", "BUN_OPTIONS=", "NODE_OPTIONS="],
    Labels: { ...needs.labels, [labels.data]: paths.identity },
    Tty: false,
    OpenStdin: false,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    NetworkDisabled: true,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      NetworkMode: "none",
      ...sharedMemory(needs),
      CapDrop: ["ALL"],
      Privileged: false,
      SecurityOpt: ["no-new-privileges"],
      ReadonlyRootfs: readOnlyRoot,
      PidsLimit: limits.processes,
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes,
      CpuPeriod: periodMicros,
      CpuQuota: Math.max(1_000, Math.round((limits.cpuMillicores * periodMicros) / 1_000)),
      RestartPolicy: { Name: "no" },
      AutoRemove: false,
      LogConfig: { Type: "json-file", Config: { "max-size": logBytes } },
      Tmpfs: temporaryMounts(needs),
      Mounts: [
        readOnly(paths.programs, programsInside),
        readOnly(needs.control, controlInside),
        ...(isCommand ? [] : [readOnly(socketFolder(paths.gateway, needs.tenant), instancePaths.gateway)]),
        ...(needs.egress ? [readOnly(socketFolder(paths.egress, needs.tenant), instancePaths.egress)] : []),
        ...(isCommand ? [] : [readOnly(needs.bootstrapScript, bootstrapInside)]),
        ...needs.mounts.map(({ source, target, readOnly: isReadOnly }) => bind(source, target, isReadOnly)),
      ],
    },
  };
}

/** A command with a read-only root may write to `/workspace` and `/tmp` only. */
function sharedMemory({ isCommand, readOnlyRoot, limits }: ContainerNeeds) {
  if (isCommand && readOnlyRoot) return { IpcMode: "none" };
  return { IpcMode: "private", ShmSize: temporaryBytes(limits, readOnlyRoot) };
}

/** Memory behind temporary files, at most; all of it counts against the memory limit as it is used. */
function temporaryBytes({ memoryBytes, diskBytes }: InstanceLimits, readOnlyRoot: boolean): number {
  return Math.min(memoryBytes, diskBytes, ...(readOnlyRoot ? [readOnlyTemporaryBytes] : []));
}

/**
 * Volumes that an image asks for would be disk that is not measured and, with a read-only root, places to write to.
 * Podman adds writable `/run` and `/var/tmp` to a read-only root unless something is mounted there.
 */
function temporaryMounts({ image, limits, mounts, readOnlyRoot }: ContainerNeeds): Record<string, string> {
  const size = `size=${temporaryBytes(limits, readOnlyRoot)}`;
  const taken = [...mounts.map(({ target }) => target), "/run", "/tmp", "/proc", "/sys", "/dev"];
  const free = (path: string) =>
    /^\/[^,:]+$/.test(path) && !taken.some((target) => path === target || path.startsWith(`${target}/`));
  const wished = image.volumes.filter((path) => free(path) && dirname(path) !== path);
  const mode = readOnlyRoot ? "ro" : "rw";
  const made: Record<string, string> = {
    "/tmp": `rw,nosuid,nodev,mode=1777,${size}`,
    ...Object.fromEntries(wished.map((path) => [path, `${mode},nosuid,nodev,mode=1777,${size}`])),
    ...(readOnlyRoot ? { "/run": "ro,nosuid,nodev,size=1m", "/var/tmp": "ro,nosuid,nodev,size=1m" } : {}),
  };
  // A volume takes the place; nothing can be mounted twice.
  for (const { target } of mounts) delete made[target];
  return made;
}

function bind(source: string, target: string, isReadOnly: boolean) {
  return { Type: "bind" as const, Source: source, Target: target, ReadOnly: isReadOnly };
}

const readOnly = (source: string, target: string) => bind(source, target, true);

/** Path inside of one of our program files. */
export const programInside = (name: string) => join(programsInside, name);
