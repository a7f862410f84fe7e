/**
 * Control groups: the kernel's own limits on memory, processor time and number of processes.
 *
 * An instance gets a group of its own below the one this node already lives in, in both versions of the
 * interface, so the node's own limits always hold for its agents too. Where no hierarchy can be written,
 * `findCgroups` says so and the caller falls back to watching.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { InstanceLimits } from "../instance.ts";

/** `freezer` is a hierarchy of its own in version 1 only; in version 2 every group has it. */
export type Controller = "memory" | "cpu" | "pids" | "freezer";
const controllers: readonly Controller[] = ["memory", "cpu", "pids", "freezer"];

/** Directories below which instances get their groups. In version 2 one directory serves all controllers. */
export interface CgroupParents {
  readonly version: 1 | 2;
  readonly directories: Readonly<Partial<Record<Controller, string>>>;
}

const periodMicros = 100_000;

/** Finds hierarchies in which this process may really make groups and put processes. */
export function findCgroups(): CgroupParents | null {
  if (process.platform !== "linux") return null;
  const mounts = readLines("/proc/self/mounts").map((line) => line.split(" "));
  const own = readLines("/proc/self/cgroup").map((line) => line.split(":"));
  return findVersion1(mounts, own) ?? findVersion2(mounts, own);
}

function findVersion1(mounts: string[][], own: string[][]): CgroupParents | null {
  const directories: Partial<Record<Controller, string>> = {};
  for (const controller of controllers) {
    const mount = mounts.find((m) => m[2] === "cgroup" && m[3]?.split(",").includes(controller))?.[1];
    const path = own.find((line) => line[1]?.split(",").includes(controller))?.[2];
    if (mount === undefined || path === undefined) continue;
    const directory = [join(mount, path), mount].find((candidate) => existsSync(candidate));
    if (directory !== undefined && works(directory)) directories[controller] = directory;
  }
  return Object.keys(directories).length === 0 ? null : { version: 1, directories };
}

/** The nearest group upwards that already hands the controllers on to its children. */
function findVersion2(mounts: string[][], own: string[][]): CgroupParents | null {
  const mount = mounts.find((m) => m[2] === "cgroup2")?.[1];
  const path = own.find((line) => line[0] === "0")?.[2];
  if (mount === undefined || path === undefined) return null;
  for (let directory = join(mount, path); directory.startsWith(mount); directory = dirname(directory)) {
    const handed = readLines(join(directory, "cgroup.subtree_control")).join(" ").split(" ");
    const usable = controllers.filter((controller) => handed.includes(controller));
    if (usable.includes("memory") && works(directory)) {
      return { version: 2, directories: Object.fromEntries(usable.map((controller) => [controller, directory])) };
    }
    if (directory === mount) break;
  }
  return null;
}

/** Tries the real thing: makes a group, puts a process in, removes it. */
function works(directory: string): boolean {
  const probe = join(directory, `svc-probe-${crypto.randomUUID()}`);
  try {
    mkdirSync(probe);
    return Bun.spawnSync(["/bin/sh", "-c", 'echo $$ > "$1"', "sh", join(probe, "cgroup.procs")]).exitCode === 0;
  } catch {
    return false;
  } finally {
    removeGroup(probe);
  }
}

/** The groups of one instance. */
export class InstanceCgroup {
  readonly #version: 1 | 2;
  readonly #groups: Partial<Record<Controller, string>> = {};

  /** Makes the groups and sets the limits. A control that cannot be set is left out. */
  constructor(parents: CgroupParents, instanceId: string, limits: InstanceLimits) {
    this.#version = parents.version;
    for (const controller of controllers) {
      const parent = parents.directories[controller];
      if (parent === undefined) continue;
      const group = join(parent, `svc-${instanceId}`);
      try {
        mkdirSync(group, { recursive: true });
        this.#limit(controller, group, limits);
        this.#groups[controller] = group;
      } catch {
        removeGroup(group);
      }
    }
  }

  get directories(): string[] {
    return [...new Set(Object.values(this.#groups))];
  }

  has(controller: Controller): boolean {
    return this.#groups[controller] !== undefined;
  }

  /** True once the kernel killed something here for want of memory. */
  ranOutOfMemory(): boolean {
    const group = this.#groups.memory;
    if (group === undefined) return false;
    const lines = readLines(join(group, this.#version === 1 ? "memory.oom_control" : "memory.events"));
    return lines.some((line) => /^oom_kill [1-9]/.test(line));
  }

  #limit(controller: Controller, group: string, limits: InstanceLimits): void {
    const set = (file: string, value: number | string) => writeFileSync(join(group, file), String(value));
    const trySet = (file: string, value: number | string) => {
      if (existsSync(join(group, file))) set(file, value);
    };
    const quota = Math.max(1_000, Math.round((limits.cpuMillicores * periodMicros) / 1_000));
    switch (controller) {
      case "memory":
        if (this.#version === 1) {
          set("memory.limit_in_bytes", limits.memoryBytes);
          trySet("memory.memsw.limit_in_bytes", limits.memoryBytes);
        } else {
          set("memory.max", limits.memoryBytes);
          trySet("memory.swap.max", 0);
          trySet("memory.oom.group", 1);
        }
        return;
      case "cpu":
        if (this.#version === 1) {
          set("cpu.cfs_period_us", periodMicros);
          set("cpu.cfs_quota_us", quota);
        } else {
          set("cpu.max", `${quota} ${periodMicros}`);
        }
        return;
      case "pids":
        set("pids.max", limits.processes);
        return;
      case "freezer":
        return;
    }
  }
}

/** Processes in a group. */
export function members(group: string): number[] {
  return readLines(join(group, "cgroup.procs"))
    .map(Number)
    .filter((pid) => pid > 0);
}

/** Removes an empty group; false when it is still in use. */
export function removeGroup(group: string): boolean {
  try {
    rmdirSync(group);
  } catch {}
  return !existsSync(group);
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch {
    return [];
  }
}
