/** Files that were deleted, or never had a name, and that processes still hold. */
import { readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";

/** So many entries are looked at here; beyond it a program is called, which costs more to start than it takes. */
const fewEntries = 1_024;

/** `major:minor`, as mount tables write a device. @param dev of `stat` */
export function deviceOf(dev: number): string {
  const low = dev % 2 ** 32;
  return `${(low >>> 8) & 0xfff}:${(low & 0xff) | ((low >>> 12) & 0xfff00)}`;
}

/**
 * Many are looked for in a process of its own, because how many of them there are is not ours to choose.
 * @param places directories of /proc that hold links to what is open or mapped
 * @param isCounted whether files of a device, `major:minor`, count
 * @returns bytes of the blocks that each file takes, by its device and number
 */
export async function heldFiles(
  places: readonly string[],
  isCounted: (device: string) => boolean,
): Promise<ReadonlyMap<string, number>> {
  return few(places, isCounted) ?? many(places, isCounted);
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
        if (!readlinkSync(path).endsWith(" (deleted)")) continue;
        const stat = statSync(path);
        const device = deviceOf(stat.dev);
        if (stat.isFile() && stat.nlink === 0 && isCounted(device))
          bytes.set(`${device} ${stat.ino}`, stat.blocks * 512);
      } catch {
        // Closed meanwhile.
      }
    }
  }
  return bytes;
}

async function many(
  places: readonly string[],
  isCounted: (device: string) => boolean,
): Promise<ReadonlyMap<string, number>> {
  const wanted = "-mindepth 1 -maxdepth 1 -type f -links 0 -printf".split(" ");
  const found = Bun.spawn(["find", "-L", ...places, ...wanted, "%D %i %b\\n"], { stdio: ["ignore", "pipe", "ignore"] });
  const bytes = new Map<string, number>();
  for (const line of (await new Response(found.stdout).text()).split("\n")) {
    const [dev, file, count] = line.split(" ");
    if (count === undefined) continue;
    const device = deviceOf(Number(dev));
    if (isCounted(device)) bytes.set(`${device} ${file}`, Number(count) * 512);
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
