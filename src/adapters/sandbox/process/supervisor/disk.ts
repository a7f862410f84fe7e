/** Measures what an instance occupies on disk: its workspace, and files it deleted but still holds open. */
import { lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { overAgentsFiles } from "../../../../lib/processes/agents-programs.ts";
import { deviceOf, heldFiles } from "./held-files.ts";

/** What a file, directory or link counts for at least: file systems run out of them as well as of blocks. */
const leastBytes = 1_024;
/** So many entries are looked at here; beyond it programs are called, which cost more to start than they take. */
const fewEntries = 256;

/**
 * Counts blocks, each hard link once, and entries.
 * @param pids        processes whose open or mapped, deleted files count too
 * @param writable    further places whose file systems they may write to: only what they deleted counts there
 * @returns bytes; null when it cannot be told
 */
export async function diskUsage(
  directories: readonly string[],
  pids: readonly number[],
  writable: readonly string[],
): Promise<number | null> {
  const counted = usageOfFew(directories) ?? (await usageOfMany(directories));
  if (counted === null) return null;
  const places = [...directories, ...writable];
  const devices = new Set(places.map((path) => statSync(path, { throwIfNoEntry: false })?.dev ?? -1));
  return counted + (await deletedButHeld(devices, pids));
}

/** Null where there is more than a little, or where files change while they are counted. */
function usageOfFew(directories: readonly string[]): number | null {
  const blocks = new Map<string, number>();
  let entries = 0;
  const waiting = directories.map((path) => ({ path, device: -1 }));
  try {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { path, device } = next;
      const stat = lstatSync(path);
      if (device !== -1 && stat.dev !== device) continue;
      entries += 1;
      blocks.set(`${stat.dev} ${stat.ino}`, stat.blocks * 512);
      if (!stat.isDirectory()) continue;
      const names = readdirSync(path);
      if (entries + waiting.length + names.length > fewEntries) return null;
      for (const name of names) waiting.push({ path: join(path, name), device: stat.dev });
    }
  } catch {
    return null;
  }
  return Math.max(sum(blocks.values()), entries * leastBytes);
}

async function usageOfMany(directories: readonly string[]): Promise<number | null> {
  const [kibibytes, entries] = await Promise.all([summed("-skx", directories), summed("--inodes -sx", directories)]);
  return kibibytes === null ? null : Math.max(kibibytes * 1_024, (entries ?? 0) * leastBytes);
}

/** What `du` says of all directories together; null when it cannot say. */
async function summed(how: string, directories: readonly string[]): Promise<number | null> {
  const text = await overAgentsFiles(["du", ...how.split(" "), "--", ...directories], (output) =>
    new Response(output).text(),
  );
  const numbers = text.split("\n").map((line) => Number.parseInt(line, 10));
  return text === "" ? null : sum(numbers.filter(Number.isFinite));
}

/**
 * Files that were deleted and that a process still holds: open, or only mapped.
 * @param devices file systems that count
 * @returns bytes
 */
export async function deletedButHeld(devices: ReadonlySet<number>, pids: readonly number[]): Promise<number> {
  const counted = new Set([...devices].filter((dev) => dev >= 0).map(deviceOf));
  return sum((await heldFiles(pids, (device) => counted.has(device))).values());
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
