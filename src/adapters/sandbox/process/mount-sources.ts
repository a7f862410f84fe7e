/**
 * What is mounted is opened first, and mounted by descriptor: a source can lie inside a volume that other instances
 * write to at this moment, and a link put in its place would lead to the host, or to another tenant's files.
 */
import { closeSync, constants, existsSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { sep } from "node:path";

/** Descriptor of the first mount in the command; 3 is the start text. */
export const firstSourceFd = 4;

/** `O_PATH` of open(2): names a place, reads nothing. */
const pathOnly = 0o10000000;

/**
 * Where a source has to be, links resolved down to the data directory and none from there on.
 * @param dataDir absolute
 */
export function resolvedSource(source: string, dataDir: string): string {
  if (source.startsWith(`${dataDir}${sep}`)) return realpathSync(dataDir) + source.slice(dataDir.length);
  return existsSync(source) ? realpathSync(source) : source;
}

/**
 * Opens each source for a child that gets them as descriptors from `firstSourceFd` on.
 * @throws when something is not where it has to be
 */
export function openSources(paths: readonly string[]): number[] {
  const least = firstSourceFd + paths.length;
  const opened: number[] = [];
  const low: number[] = [];
  try {
    for (const path of paths) {
      let fd = openSync(path, pathOnly | constants.O_NOFOLLOW);
      // Numbers of the child's own range could be overwritten before they are handed over.
      while (fd < least) {
        low.push(fd);
        fd = openSync(path, pathOnly | constants.O_NOFOLLOW);
      }
      opened.push(fd);
      if (readlinkSync(`/proc/self/fd/${fd}`) !== path) throw new Error("a volume is not where it has to be");
    }
    return opened;
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  } finally {
    for (const fd of low) closeSync(fd);
  }
}
