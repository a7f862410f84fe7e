/**
 * Measures what an instance holds in memory, where no control group does: what its processes have for themselves, their
 * page tables, and the memory behind files: of the tmpfs mounts of its own, of memfds, of shared mappings and of files
 * that are deleted and still held. Not counted is what the kernel keeps for pipes and sockets.
 */
import { readFileSync, readlinkSync, statfsSync, statSync } from "node:fs";
import { deviceOf, heldFiles } from "./held-files.ts";

/**
 * @param pids the instance's processes
 * @returns bytes
 */
export async function memoryUse(pids: readonly number[]): Promise<number> {
  const host = new Set(mountsOf("self").map(({ device }) => device));
  const temporary = temporaryFiles(pids, host);
  const isCounted = (device: string) => isUnnamed(device) && !host.has(device) && !temporary.devices.has(device);
  const nameless = await heldFiles(pids, isCounted);
  return sum(pids.map(ownBytes)) + temporary.bytes + sum(nameless.values());
}

/**
 * A quick look: resident pages, of which those that processes share count once for each of them.
 * @returns bytes; at least what they have for themselves
 */
export function residentBytes(pids: readonly number[]): number {
  return sum(pids.map((pid) => (kibibytes(read(`/proc/${pid}/status`), "VmRSS") ?? 0) * 1_024));
}

/** What a process has in pages of its own, in part where it shares them; swapped out ones and page tables included. */
function ownBytes(pid: number): number {
  const rollup = read(`/proc/${pid}/smaps_rollup`);
  const status = read(`/proc/${pid}/status`);
  const tables = kibibytes(status, "VmPTE") ?? 0;
  const anonymous = kibibytes(rollup, "Pss_Anon") ?? kibibytes(rollup, "Anonymous");
  // A program that may be run but not read can hide its mappings; never its size.
  const own = anonymous ?? kibibytes(status, "RssAnon") ?? 0;
  const swapped = kibibytes(rollup, "SwapPss") ?? kibibytes(status, "VmSwap") ?? 0;
  return (own + swapped + tables) * 1_024;
}

function kibibytes(text: string, name: string): number | null {
  const found = new RegExp(`^${name}:\\s*(\\d+) kB$`, "m").exec(text)?.[1];
  return found === undefined ? null : Number(found);
}

/** What the kernel keeps for a file in memory beside its content: inode, entry and name. */
const entryBytes = 1_024;

interface Mount {
  /** `major:minor` */
  readonly device: string;
  readonly path: string;
  readonly type: string;
}

function mountsOf(pid: number | "self"): Mount[] {
  return read(`/proc/${pid}/mountinfo`)
    .split("\n")
    .flatMap((line) => {
      const [, , device, , path] = line.split(" ");
      const type = line.split(" - ")[1]?.split(" ")[0];
      return device === undefined || path === undefined || type === undefined ? [] : [{ device, path, type }];
    });
}

/** The tmpfs mounts that the instance has and this process has not, in any of its mount namespaces. */
function temporaryFiles(
  pids: readonly number[],
  host: ReadonlySet<string>,
): { readonly bytes: number; readonly devices: ReadonlySet<string> } {
  const namespaces = new Map(pids.map((pid) => [linkAt(`/proc/${pid}/ns/mnt`), pid]));
  const used = new Map<string, number>();
  for (const pid of namespaces.values()) {
    for (const { device, path, type } of mountsOf(pid)) {
      if (type !== "tmpfs" || host.has(device) || used.has(device)) continue;
      const bytes = usedBytes(`/proc/${pid}/root${unescaped(path)}`, device);
      if (bytes !== null) used.set(device, bytes);
    }
  }
  return { bytes: sum(used.values()), devices: new Set(used.keys()) };
}

/** Null where something else is mounted over it, or nothing is there any more. */
function usedBytes(path: string, device: string): number | null {
  try {
    if (deviceOf(statSync(path).dev) !== device) return null;
    const { blocks, bfree, bsize, files, ffree } = statfsSync(path);
    return (blocks - bfree) * bsize + (files - ffree) * entryBytes;
  } catch {
    return null;
  }
}

/** mountinfo writes spaces and the like as three octal digits. */
const unescaped = (path: string) =>
  path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** Devices that no hardware stands behind. */
const isUnnamed = (device: string) => device.startsWith("0:");

function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
