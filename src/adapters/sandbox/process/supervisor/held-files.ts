/** Files that were deleted, or never had a name, and that processes still hold. */
import { accessSync, constants, readdirSync, readFileSync, readlinkSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { descriptorsOf, descriptorTables } from "./descriptors.ts";

/** So many entries are looked at here; beyond it a program is called, which costs more to start than it takes. */
const fewEntries = 1_024;
/** An argument list is no longer than the kernel takes. */
const placesOfOneProgram = 2_048;

/** `major:minor`, as mount tables write a device. @param dev of `stat` */
export function deviceOf(dev: number): string {
  const low = dev % 2 ** 32;
  return `${(low >>> 8) & 0xfff}:${(low & 0xff) | ((low >>> 12) & 0xfff00)}`;
}

/**
 * Looks at what processes have open and at what they have mapped.
 * @param isCounted whether files of a device, `major:minor`, count
 * @returns bytes of the blocks that each file takes, by its device and number
 */
export async function heldFiles(
  pids: readonly number[],
  isCounted: (device: string) => boolean,
): Promise<ReadonlyMap<string, number>> {
  const tables = (await Promise.all(pids.map(descriptorTables))).flat();
  const places = tables.map((thread) => `/proc/${thread}/fd`);
  // Many are looked for in a process of its own, because how many of them there are is not ours to choose.
  const found = new Map(few(places, isCounted) ?? (await many(places, isCounted)));
  for (const thread of tables.filter(isHidden)) {
    for (const stat of await descriptorsOf(thread)) note(found, stat, isCounted);
  }
  const mapped = new Map<string, number>();
  for (const pid of pids) {
    for (const [file, bytes] of mappedFiles(pid, isCounted)) {
      if (!found.has(file)) mapped.set(file, Math.max(bytes, mapped.get(file) ?? 0));
    }
  }
  for (const [file, bytes] of mapped) found.set(file, bytes);
  return found;
}

/**
 * Whether or not the pages of a mapping are in this process at the moment: a child that has ended may have filled them.
 * Only root may look at the file behind a mapping; for others it is as large as what is mapped of it.
 */
function mappedFiles(pid: number, isCounted: (device: string) => boolean): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const line of mappings(pid)) {
    if (!line.endsWith(" (deleted)")) continue;
    const [range = "", , , numbers = "", inode = ""] = line.split(/ +/, 5);
    // Some file systems show another device here than to those who ask for the file.
    const behind = fileBehind(pid, range);
    const device = behind?.device ?? decimal(numbers);
    if (!isCounted(device)) continue;
    const file = `${device} ${behind?.inode ?? inode}`;
    found.set(file, behind?.bytes ?? (found.get(file) ?? 0) + lengthOf(range));
  }
  return found;
}

/** The device of a mapping is written in hexadecimal digits. */
const decimal = (numbers: string) =>
  numbers
    .split(":")
    .map((part) => Number.parseInt(part, 16))
    .join(":");

function mappings(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/maps`, "utf8").split("\n");
  } catch {
    return [];
  }
}

function fileBehind(pid: number, range: string) {
  try {
    const { dev, ino, blocks } = statSync(`/proc/${pid}/map_files/${range}`);
    return { device: deviceOf(dev), inode: ino, bytes: blocks * 512 };
  } catch {
    return null;
  }
}

function lengthOf(range: string): number {
  const [from = 0, to = 0] = range.split("-").map((part) => Number.parseInt(part, 16));
  return to - from;
}

function few(places: readonly string[], isCounted: (device: string) => boolean): ReadonlyMap<string, number> | null {
  const bytes = new Map<string, number>();
  let left = fewEntries;
  for (const place of places) {
    const names = namesIn(place);
    left -= names.length;
    if (left < 0) return null;
    for (const path of names.map((name) => join(place, name))) {
      try {
        if (readlinkSync(path).endsWith(" (deleted)")) note(bytes, statSync(path), isCounted);
      } catch {
        // Closed meanwhile.
      }
    }
  }
  return bytes;
}

function note(bytes: Map<string, number>, stat: Stats, isCounted: (device: string) => boolean): void {
  const device = deviceOf(stat.dev);
  if (stat.isFile() && stat.nlink === 0 && isCounted(device)) bytes.set(`${device} ${stat.ino}`, stat.blocks * 512);
}

/** Whether others of its user are kept from what a thread has open: no obstacle to root. */
function isHidden(thread: number): boolean {
  if (process.getuid?.() === 0) return false;
  try {
    accessSync(`/proc/${thread}/fd`, constants.R_OK);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EACCES";
  }
}

async function many(
  places: readonly string[],
  isCounted: (device: string) => boolean,
): Promise<ReadonlyMap<string, number>> {
  const wanted = "-mindepth 1 -maxdepth 1 -type f -links 0 -printf".split(" ");
  const bytes = new Map<string, number>();
  for (let from = 0; from < places.length; from += placesOfOneProgram) {
    const some = places.slice(from, from + placesOfOneProgram);
    const found = Bun.spawn(["find", "-L", ...some, ...wanted, "%D %i %b\\n"], { stdio: ["ignore", "pipe", "ignore"] });
    for (const line of (await new Response(found.stdout).text()).split("\n")) {
      const [dev, file, count] = line.split(" ");
      if (count === undefined) continue;
      const device = deviceOf(Number(dev));
      if (isCounted(device)) bytes.set(`${device} ${file}`, Number(count) * 512);
    }
  }
  return bytes;
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
