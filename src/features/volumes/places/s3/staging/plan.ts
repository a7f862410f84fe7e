/** What has to be done to bring a copy and its volume into line, from what is known of both. */
import type { Known, Manifest, OnDisk } from "./copy.ts";
import type { StoredEntry } from "./records.ts";

type Disk = ReadonlyMap<string, OnDisk>;

export interface PullPlan {
  /** Paths on the disk that go, the deepest first. */
  readonly stale: readonly string[];
  /** What is in line already, or waits to be written back. */
  readonly next: Manifest;
  /** What has to be brought. */
  readonly missing: readonly StoredEntry[];
}

/** @param hasWriters whether what differs on the disk is still to be written back: then it stays */
export function planPull(stored: readonly StoredEntry[], disk: Disk, known: Manifest, hasWriters: boolean): PullPlan {
  const wanted = new Map(stored.map((entry) => [entry.path, entry]));
  const stale = deepestFirst(disk.keys()).filter((path) => {
    const there = disk.get(path);
    const before = known.get(path);
    if (there === undefined || wanted.get(path)?.directory === there.directory) return false;
    return !hasWriters || (there.directory ? known.has(path) : before?.mark === there.mark);
  });
  const gone = new Set(stale);
  const next: Manifest = new Map();
  const missing: StoredEntry[] = [];
  for (const entry of stored) {
    const { path } = entry;
    const there = gone.has(path) ? undefined : disk.get(path);
    const before = known.get(path);
    if (hasWriters && isChangedHere(entry, there, before)) {
      // As it was known: what an execution did to it is not written back yet.
      if (before !== undefined) next.set(path, before);
    } else if (isInLine(entry, there, before)) next.set(path, entry.directory ? null : (before ?? null));
    else {
      missing.push(entry);
      if (entry.directory) next.set(path, null);
    }
  }
  return { stale, next, missing };
}

function isChangedHere(entry: StoredEntry, there: OnDisk | undefined, before: Known | null | undefined): boolean {
  if (there === undefined) return before === null ? entry.directory : before?.id === entry.id;
  return there.directory ? Boolean(before) : before?.mark !== there.mark;
}

function isInLine(entry: StoredEntry, there: OnDisk | undefined, before: Known | null | undefined): boolean {
  if (there === undefined || there.directory !== entry.directory) return false;
  return entry.directory || (before?.id === entry.id && before.mark === there.mark);
}

export interface PushPlan {
  /** What is in line. */
  readonly next: Manifest;
  /** Files that may have changed. */
  readonly candidates: string[];
  /** Directories that were made, parents first. */
  readonly made: readonly string[];
  /** What was removed, the deepest first. */
  readonly removed: readonly string[];
}

export function planPush(stored: readonly StoredEntry[], disk: Disk, known: Manifest): PushPlan {
  const next: Manifest = new Map();
  const candidates: string[] = [];
  for (const [path, there] of disk) {
    const before = known.get(path);
    if (there.directory) next.set(path, null);
    else if (before?.mark === there.mark) next.set(path, before);
    else candidates.push(path);
  }
  const current = new Set(stored.map(({ path }) => path));
  const removed = deepestFirst(known.keys()).filter((path) => {
    const there = disk.get(path);
    return current.has(path) && (there === undefined || there.directory !== (known.get(path) === null));
  });
  const made = [...disk].filter(([path, { directory }]) => directory && !known.has(path)).map(([path]) => path);
  return { next, candidates, made: made.sort((a, b) => a.length - b.length), removed };
}

/** What lies in a directory comes before it. */
function deepestFirst(paths: Iterable<string>): string[] {
  return [...paths].sort((a, b) => b.length - a.length);
}
