/** Stopping all processes of a control group where they stand, and letting them go on: the kernel's freezer. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const pollMs = 10;

interface Freezer {
  readonly frozen: () => boolean;
  readonly set: (frozen: boolean) => void;
}

/** The freezer of an instance's groups: a hierarchy of its own in version 1, a file of every group in version 2. */
function freezerOf(groups: readonly string[]): Freezer | null {
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

/**
 * Resolves once every process of the groups stands still. One that waits in the kernel for a disk may keep the others from
 * it; after `withinMs` all go on.
 * @returns false where the host has no freezer, or it does not take hold in time
 */
export async function freeze(groups: readonly string[], withinMs: number): Promise<boolean> {
  try {
    const freezer = freezerOf(groups);
    if (freezer === null) return false;
    freezer.set(true);
    const until = performance.now() + withinMs;
    while (performance.now() < until) {
      if (freezer.frozen()) return true;
      await Bun.sleep(pollMs);
    }
    freezer.set(false);
    return false;
  } catch {
    // The groups are gone, and what was in them.
    return false;
  }
}

/** Whether the processes of the groups stand still. */
export function isFrozen(groups: readonly string[]): boolean {
  try {
    return freezerOf(groups)?.frozen() ?? false;
  } catch {
    return false;
  }
}

/** Repeatable; nothing happens where nothing is frozen. */
export function thaw(groups: readonly string[]): void {
  try {
    freezerOf(groups)?.set(false);
  } catch {}
}
