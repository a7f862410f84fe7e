/** Stopping all processes of a control group where they stand, and letting them go on: the kernel's freezer. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Freezer } from "../stillness.ts";

/** The freezer of an instance's groups: a hierarchy of its own in version 1, a file of every group in version 2. */
export function freezerOf(groups: readonly string[]): Freezer | null {
  for (const group of groups) {
    const state = join(group, "freezer.state");
    if (existsSync(state)) {
      return {
        frozen: () => readFileSync(state, "utf8").trim() === "FROZEN",
        set: (frozen) => writeFileSync(state, frozen ? "FROZEN" : "THAWED"),
      };
    }
    const freeze = join(group, "cgroup.freeze");
    if (existsSync(freeze)) {
      return {
        frozen: () => /^frozen 1$/m.test(readFileSync(join(group, "cgroup.events"), "utf8")),
        set: (frozen) => writeFileSync(freeze, frozen ? "1" : "0"),
      };
    }
  }
  return null;
}

/** The freezer of the control groups that a process of this host is in; null where they are those of this process, too. */
export function freezerOfProcess(pid: number): Freezer | null {
  return freezerOf(groupsOfProcess(pid));
}

/** The control groups, with a freezer, that a process of this host is in and this process is not. */
export function groupsOfProcess(pid: number): string[] {
  const own = new Set(groupsOf("self"));
  return groupsOf(pid).filter((group) => !own.has(group));
}

function groupsOf(pid: number | "self"): string[] {
  try {
    const mounts = readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "));
    return readFileSync(`/proc/${pid}/cgroup`, "utf8")
      .split("\n")
      .flatMap((line) => {
        const [number, controllers = "", ...path] = line.split(":");
        const isOne = (of: readonly string[]) =>
          number === "0" ? of[2] === "cgroup2" : of[2] === "cgroup" && of[3]?.split(",").includes("freezer") === true;
        if (number !== "0" && !controllers.split(",").includes("freezer")) return [];
        const mount = mounts.find(isOne)?.[1];
        return mount === undefined ? [] : [join(mount, path.join(":"))];
      });
  } catch {
    return [];
  }
}

/** Repeatable; nothing happens where nothing is frozen. */
export function thaw(groups: readonly string[]): void {
  try {
    void freezerOf(groups)?.set(false);
  } catch {}
}
