/** Ending whatever an instance still has running, and waiting until nothing of it is left. */
import { carrying, family, signal, tree } from "../../../lib/process-table.ts";
import { members, removeGroup } from "./cgroup.ts";

const patienceMs = 5_000;

export interface Remains {
  /** The instance's first process, when it is known to be still its own. */
  readonly root: number | null;
  readonly cgroups: readonly string[];
  /** An environment entry that only this instance's processes have; null when namespaces hold them together. */
  readonly mark: string | null;
}

/** Processes that belong to the instance now. */
export function livingProcesses(remains: Remains): number[] {
  const found = new Set<number>(remains.cgroups.flatMap(members));
  if (remains.root !== null) for (const row of tree(remains.root)) found.add(row.pid);
  if (remains.mark !== null) for (const pid of carrying(remains.mark)) found.add(pid);
  found.delete(process.pid);
  return [...found];
}

/** The same, looked at quickly: one that is just being started may be missing. */
export function seenProcesses({ root, cgroups, mark }: Remains): number[] {
  const found = new Set<number>(cgroups.flatMap(members));
  if (cgroups.length === 0 && root !== null) for (const row of family(root)) found.add(row.pid);
  if (mark !== null) for (const pid of carrying(mark)) found.add(pid);
  found.delete(process.pid);
  return [...found];
}

/**
 * Kills everything, again and again until nothing is left: a process may fork while it is being killed.
 * Gives up after 5 s with what cannot be killed.
 */
export async function killRemains(remains: Remains): Promise<void> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    if (remains.root !== null) signal(-remains.root, "SIGKILL");
    const pids = livingProcesses(remains);
    if (pids.length === 0) return;
    for (const pid of pids) signal(pid, "SIGKILL");
    await Bun.sleep(10);
  }
}

/** Removes control groups that nothing runs in any more; the kernel may need a moment to let go of them. */
export async function removeGroups(groups: readonly string[]): Promise<void> {
  const until = performance.now() + patienceMs;
  while (!groups.every(removeGroup) && performance.now() < until) await Bun.sleep(20);
}
