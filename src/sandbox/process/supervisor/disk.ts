/** Measures what an instance occupies on disk: its workspace, and files it deleted but still holds open. */
import { statSync } from "node:fs";

/** What a file, directory or link counts for at least: file systems run out of them as well as of blocks. */
const leastBytes = 1_024;

/**
 * @param directories walked by `du`, which counts blocks and each hard link once
 * @param pids        processes whose open or mapped, deleted files count too
 * @returns bytes; null when it cannot be told
 */
export async function diskUsage(directories: readonly string[], pids: readonly number[]): Promise<number | null> {
  const [kibibytes, entries] = await Promise.all([summed("-skx", directories), summed("--inodes -sx", directories)]);
  if (kibibytes === null) return null;
  const counted = Math.max(kibibytes * 1_024, (entries ?? 0) * leastBytes);
  const devices = new Set(directories.map((path) => statSync(path, { throwIfNoEntry: false })?.dev ?? -1));
  return counted + (await deletedButHeld(devices, pids));
}

/** What `du` says of all directories together; null when it cannot say. */
async function summed(how: string, directories: readonly string[]): Promise<number | null> {
  const child = Bun.spawn(["du", ...how.split(" "), "--", ...directories], { stdio: ["ignore", "pipe", "ignore"] });
  const text = await new Response(child.stdout).text();
  const numbers = text.split("\n").map((line) => Number.parseInt(line, 10));
  return text === "" ? null : numbers.filter(Number.isFinite).reduce((sum, number) => sum + number, 0);
}

/**
 * Files that were deleted and that a process still holds: open, or only mapped. Looked for in a process of its own,
 * because how many of them there are is not ours to choose.
 * @param devices file systems that count
 */
export async function deletedButHeld(devices: ReadonlySet<number>, pids: readonly number[]): Promise<number> {
  if (pids.length === 0) return 0;
  const places = pids.flatMap((pid) => [`/proc/${pid}/fd`, `/proc/${pid}/map_files`]);
  const wanted = "-mindepth 1 -maxdepth 1 -type f -links 0 -printf".split(" ");
  const found = Bun.spawn(["find", "-L", ...places, ...wanted, "%D %i %b\\n"], { stdio: ["ignore", "pipe", "ignore"] });
  const blocks = new Map<string, number>();
  for (const line of (await new Response(found.stdout).text()).split("\n")) {
    const [device, file, count] = line.split(" ");
    if (count !== undefined && devices.has(Number(device))) blocks.set(`${device} ${file}`, Number(count));
  }
  return [...blocks.values()].reduce((sum, count) => sum + count * 512, 0);
}
