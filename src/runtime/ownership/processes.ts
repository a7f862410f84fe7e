/** Whether the process of a node is gone, where that can be told: on the same machine it need not be waited for. */
import { readFileSync, readlinkSync } from "node:fs";

/** Where process ids mean the same thing as here: same boot, same pid namespace. Empty when that can't be told. */
export function pidScope(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return "";
  }
}

/** @param scope where this process is, as `pidScope` says */
export function isGone(
  { pid, pid_scope }: { readonly pid: number; readonly pid_scope: string },
  scope = pidScope(),
): boolean {
  if (scope === "" || pid_scope !== scope) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
