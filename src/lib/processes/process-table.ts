/** What the kernel tells of running processes. Linux reads /proc; elsewhere `ps` tells of single ones only. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque: when it began, and in which boot. */
  readonly born: string;
}

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** A thread of it that lives. A process whose first thread has ended shows its memory and files only under another. */
  readonly thread: number;
}

/** Names a live process for later; null when there is none. */
export function identify(pid: number): ProcessIdentity | null {
  const born = birth(pid);
  return born === null ? null : { pid, born };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return birth(identity.pid) === identity.born;
}

/** Boot and start time of a process; null when it is gone or only waits to be reaped. */
function birth(pid: number): string | null {
  if (process.platform !== "linux") return ps(pid, "lstart=") || null;
  const fields = statFields(pid);
  const [state, start] = [fields?.[0], fields?.[19]];
  return state === undefined || start === undefined || state === "Z" || state === "X" ? null : `${boot()}:${start}`;
}

let bootId: string | undefined;
function boot(): string {
  bootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return bootId;
}

/** Fields of /proc/<pid>/stat from the third (state) on; the name before them may hold anything. */
function statFields(pid: number): string[] | null {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    return line.slice(line.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

/** Ticks of a second in which Linux tells processor time (USER_HZ). */
const ticksPerSecond = 100;

/** Processor time that a process has used, in milliseconds; null when it is gone or the system does not tell. */
export function processorMs(pid: number): number | null {
  const fields = process.platform === "linux" ? statFields(pid) : null;
  return fields === null ? null : ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
}

/** Every process of the machine that still runs. */
export function processes(): ProcessRow[] {
  if (process.platform !== "linux") return [];
  const rows: ProcessRow[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const row = Number.isInteger(pid) ? rowOf(pid) : null;
    if (row !== null) rows.push(row);
  }
  return rows;
}

/** Null for what is gone or only waits to be reaped. */
function rowOf(pid: number): ProcessRow | null {
  const fields = statFields(pid);
  if (fields === null) return null;
  const thread = hasEnded(fields) ? threadsOf(pid).find((each) => !hasEnded(statFields(each))) : pid;
  return thread === undefined ? null : { pid, parent: Number(fields[1]), group: Number(fields[2]), thread };
}

const hasEnded = (fields: readonly string[] | null) => fields === null || fields[0] === "Z" || fields[0] === "X";

/** The threads of a process, or of the process of a thread. Empty when it is gone. */
export function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

/** A thread of the process that lives, the process itself where that does; null when it is gone. */
export function livingThread(pid: number): number | null {
  return rowOf(pid)?.thread ?? null;
}

/**
 * The id that this machine has for a process below `root` which has another one in its own namespace.
 * @param within its innermost id @returns null when there is none, or the system does not tell
 */
export function hostProcess(root: number, within: number): number | null {
  for (const { pid } of tree(root)) {
    try {
      const ids = /^NSpid:\s+(.+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]?.split(/\s+/) ?? [];
      if (ids.length > 1 && Number(ids.at(-1)) === within) return pid;
    } catch {
      // Gone meanwhile.
    }
  }
  return null;
}

/** The processes below `root`, itself included. */
export function tree(root: number, rows: readonly ProcessRow[] = processes()): ProcessRow[] {
  const byParent = Map.groupBy(rows, (row) => row.parent);
  const found = rows.filter((row) => row.pid === root);
  for (const row of found) found.push(...(byParent.get(row.pid) ?? []));
  return found;
}

/**
 * Like `tree`, in time by the size of the family and not of the machine. While processes come and go one may be
 * missed, so this is for looking now and then, not for making sure that nothing is left.
 */
export function family(root: number): ProcessRow[] {
  if (!tellsChildren) return tree(root);
  const found: ProcessRow[] = [];
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const row = rowOf(pid);
    if (row === null) continue;
    found.push(row);
    waiting.push(...childrenOf(pid));
  }
  return found;
}

/** Not every kernel is built with these files. */
const tellsChildren = existsSync(`/proc/self/task/${process.pid}/children`);

function childrenOf(pid: number): number[] {
  try {
    return threadsOf(pid).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** Processes whose environment holds this exact entry: finds children that left their tree and group. */
export function carrying(entry: string): number[] {
  const [name = "", ...value] = entry.split("=");
  return processesCarrying(name, (carried) => carried === value.join("="));
}

/** Likewise, processes whose environment has the variable with such a value. */
export function processesCarrying(variable: string, isWanted: (value: string) => boolean): number[] {
  const prefix = `${variable}=`;
  return processes()
    .filter(({ pid, thread }) => {
      if (pid === process.pid) return false;
      return environmentOf(thread).some((entry) => entry.startsWith(prefix) && isWanted(entry.slice(prefix.length)));
    })
    .map(({ pid }) => pid);
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** The command line of a process with its arguments, empty when it is gone. */
export function commandLine(pid: number): string {
  if (process.platform !== "linux") return ps(pid, "command=");
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

function ps(pid: number, column: string): string {
  const result = Bun.spawnSync(["ps", "-o", column, "-p", String(pid)], { stderr: "ignore" });
  return result.stdout.toString().trim();
}

/** Signals a process, or a group when negative; false when there is none. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
