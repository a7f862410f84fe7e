/** Process cleanup: ends everything that an instance still has running. */
import { carrying, family, livingThread, signal, tree } from "../../../../lib/processes/process-table.ts";
import { members, removeGroup } from "../cgroup.ts";
import { thaw } from "../freezing.ts";

const timeoutMs = 5_000;

export interface InstanceProcesses {
  /** The instance's first process, when it is known to be still its own. */
  readonly root: number | null;
  readonly cgroups: readonly string[];
  /** An environment entry that only this instance's processes have; null when namespaces hold them together. */
  readonly mark: string | null;
}

/** Processes that belong to the instance now. */
export function livingProcesses(own: InstanceProcesses): number[] {
  const found = new Set<number>(own.cgroups.flatMap(members));
  if (own.root !== null) for (const row of tree(own.root)) found.add(row.pid);
  if (own.mark !== null) for (const pid of carrying(own.mark)) found.add(pid);
  found.delete(process.pid);
  return [...found];
}

/**
 * The same, found in less time and for looking at: a process that is just being started may be missing, and one whose
 * first thread has ended is named by another thread.
 */
export function sampleProcesses({ root, cgroups, mark }: InstanceProcesses): number[] {
  const found = new Set<number>(cgroups.flatMap(members));
  if (cgroups.length === 0 && root !== null) for (const row of family(root)) found.add(row.pid);
  if (mark !== null) for (const pid of carrying(mark)) found.add(pid);
  found.delete(process.pid);
  return [...found].flatMap((pid) => livingThread(pid) ?? []);
}

/**
 * Kills everything, again and again until nothing is left: a process may fork while it is being killed.
 * Gives up after 5 s with what cannot be killed.
 */
export async function killProcesses(own: InstanceProcesses): Promise<void> {
  const until = performance.now() + timeoutMs;
  while (performance.now() < until) {
    if (own.root !== null) signal(-own.root, "SIGKILL");
    const pids = livingProcesses(own);
    if (pids.length === 0) return;
    for (const pid of pids) signal(pid, "SIGKILL");
    // A process that stands still dies of it only once it goes on.
    thaw(own.cgroups);
    await Bun.sleep(10);
  }
}

/** Removes control groups that nothing runs in any more; the kernel may need a moment to let go of them. */
export async function removeGroups(groups: readonly string[]): Promise<void> {
  const until = performance.now() + timeoutMs;
  while (!groups.every(removeGroup) && performance.now() < until) await Bun.sleep(20);
}
