/** Tells one process from another that later got the same pid. */
import { readFileSync } from "node:fs";

/** A process as recorded in a file: the pid alone would also match whoever got that number next. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; differs between two processes that had the same pid. */
  readonly startedAt: string;
}

/** The identity of a living process, or null when there is none of that pid. A zombie counts as dead. */
export function identify(pid: number): ProcessIdentity | null {
  const startedAt = process.platform === "linux" ? startFromProc(pid) : startFromPs(pid);
  return startedAt === null ? null : { pid, startedAt };
}

/** Whether exactly this process still lives. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startedAt === identity.startedAt;
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

function startFromProc(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may itself hold spaces and parentheses; the fields after it may not.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state] = fields;
    if (state === "Z" || state === "X") return null;
    return fields[19] ?? null;
  } catch {
    return null;
  }
}

function startFromPs(pid: number): string | null {
  return ps(pid, "lstart=") || null;
}

function ps(pid: number, column: string): string {
  const result = Bun.spawnSync(["ps", "-o", column, "-p", String(pid)], { stderr: "ignore" });
  return result.stdout.toString().trim();
}
