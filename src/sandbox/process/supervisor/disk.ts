/** Measures what an instance occupies on disk: its workspace, and files it deleted but still holds open. */
import { readdirSync, readlinkSync, statSync } from "node:fs";

/**
 * @param directories walked by `du`, which counts blocks and each hard link once
 * @param pids        processes whose open, deleted files count too
 * @returns bytes; null when it cannot be told
 */
export async function diskUsage(directories: readonly string[], pids: readonly number[]): Promise<number | null> {
  const child = Bun.spawn(["du", "-skx", "--", ...directories], { stdio: ["ignore", "pipe", "ignore"] });
  const text = await new Response(child.stdout).text();
  const kibibytes = text.split("\n").map((line) => Number.parseInt(line, 10));
  const counted = kibibytes.filter((size) => Number.isFinite(size)).reduce((sum, size) => sum + size, 0);
  return text === "" ? null : counted * 1_024 + deletedButOpen(directories, pids);
}

function deletedButOpen(directories: readonly string[], pids: readonly number[]): number {
  const devices = new Set(directories.map((path) => statSync(path, { throwIfNoEntry: false })?.dev));
  const sizes = new Map<number, number>();
  for (const pid of pids) {
    for (const fd of openFiles(pid)) {
      try {
        if (!readlinkSync(fd).endsWith(" (deleted)")) continue;
        const stat = statSync(fd);
        if (stat.isFile() && stat.nlink === 0 && devices.has(stat.dev)) sizes.set(stat.ino, stat.blocks * 512);
      } catch {}
    }
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  } catch {
    return [];
  }
}
