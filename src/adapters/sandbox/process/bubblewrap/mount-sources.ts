/**
 * What a command gets as descriptors. What is mounted is opened first, and mounted by descriptor: a source can lie
 * inside a volume that other instances write to at this moment, and a link put in its place would lead to the host, or to
 * another tenant's files.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, sep } from "node:path";
import { isOfOneRun } from "../../mount-points.ts";
import { isWithin } from "./host-program.ts";

/** Numbers of the descriptors that a command begins with. */
export const descriptors = {
  /** The text that starts the program. */
  start: 3,
  /** Bubblewrap's options. */
  options: 4,
  /** The filter of system calls. */
  filter: 5,
  /** The first of the mounts. */
  firstSource: 6,
} as const;

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
 * Opens each source for a child that gets them as descriptors from `descriptors.firstSource` on.
 * @param dataDir absolute
 * @param ofHost those of the paths that are directories which an operator opens
 * @throws when something is not where it has to be, or nothing that may ever be mounted: of the data directory what
 *   belongs to one run or volume, of the rest of the host regular files and what is opened
 */
export function openSources(paths: readonly string[], dataDir: string, ofHost: readonly string[] = []): number[] {
  const data = realpathSync(dataDir);
  const opened: number[] = [];
  try {
    for (const path of paths) {
      const fd = openAbove(paths.length, () => openSync(path, pathOnly | constants.O_NOFOLLOW));
      opened.push(fd);
      if (readlinkSync(`/proc/self/fd/${fd}`) !== path) throw new Error("a volume is not where it has to be");
      const permitted = isWithin(path, data)
        ? isOfOneRun(path, data)
        : fstatSync(fd).isFile() || (ofHost.includes(path) && fstatSync(fd).isDirectory());
      if (!permitted) throw new Error("this place of the host is never mounted");
    }
    return opened;
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  }
}

/**
 * The descriptors before those of the mounts: start text, options, filter of system calls. The texts have no name that
 * could be opened.
 * @param directory where they may lie for a moment
 * @param filter null: a place holder, so that the numbers after it stay the same
 * @param mounts how many sources follow
 */
export function openTexts(
  directory: string,
  { start, options, filter }: { readonly start: string; readonly options: string; readonly filter: string | null },
  mounts: number,
): number[] {
  const nameless = (text: string) => {
    const path = join(directory, `.${crypto.randomUUID()}`);
    try {
      writeFileSync(path, text, { mode: 0o600 });
      return openAbove(mounts, () => openSync(path, "r"));
    } finally {
      rmSync(path, { force: true });
    }
  };
  return [nameless(start), nameless(options), openAbove(mounts, () => openSync(filter ?? "/dev/null", "r"))];
}

/** Descriptors with numbers of the child's own range could be overwritten before they are handed over. */
function openAbove(mounts: number, open: () => number): number {
  const low: number[] = [];
  let fd = open();
  while (fd < descriptors.firstSource + mounts) {
    low.push(fd);
    fd = open();
  }
  for (const each of low) closeSync(each);
  return fd;
}
