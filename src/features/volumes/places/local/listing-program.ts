/** The process that lists a directory for the file routes: neither its size nor its depth is ours to choose. */
import { opendirSync } from "node:fs";
import { posix } from "node:path";
import { serveGuarded } from "../../../../lib/guarded/serve.ts";
import type { ViewSpec } from "../../../tools/fs/port.ts";
import { type Directory, look, type Place, View } from "../../../tools/fs/port.ts";
import { outcomeOf, ToolFailure, type ToolOutcome } from "../../../tools/port.ts";

export interface ListingJob {
  readonly view: ViewSpec;
  readonly path: string;
  readonly recursive: boolean;
  /** Entries wanted at most. */
  readonly limit: number;
  /** Entries of one directory up to this one are left out: of those before it, and it itself. */
  readonly after: { readonly directory: boolean; readonly name: string } | null;
}

export interface ListedEntry {
  readonly name: string;
  readonly path: string;
  readonly directory: boolean;
  readonly size: number;
  readonly modifiedMs: number;
}

/** Names looked at in one directory; of larger ones only so many are known. */
const maxNames = 200_000;
const maxDepth = 100;

/** Their code units are in the order of their bytes. */
const plain = /^[^\ud800-\uffff]*$/;

interface Named {
  readonly name: string;
  readonly directory: boolean;
}

function listing(job: ListingJob): ToolOutcome {
  const entries: ListedEntry[] = [];
  let cut = false;
  /** @returns false when there is no room for more */
  const add = (place: Place & { readonly name: string }, directory: boolean): boolean => {
    const stats = look(place);
    // Gone since it was read.
    if (stats === null) return true;
    if (entries.length === job.limit) return false;
    entries.push({
      name: place.name,
      path: place.shown,
      directory,
      size: directory ? 0 : stats.size,
      modifiedMs: stats.mtimeMs,
    });
    return true;
  };
  const visit = (view: View, directory: Directory, shown: string, depth: number): boolean => {
    const { names, more } = namesIn(view, directory);
    cut ||= more;
    for (const { name, directory: isDirectory } of names) {
      if (depth === 0 && job.after !== null && compare({ name, directory: isDirectory }, job.after) <= 0) continue;
      const place = { directory, name, shown: posix.join(shown, name) };
      if (!add(place, isDirectory)) return false;
      if (!job.recursive || !isDirectory || depth >= maxDepth) continue;
      const inner = view.enter(directory, name);
      if (inner === null) continue;
      try {
        if (!visit(view, inner, place.shown, depth + 1)) return false;
      } finally {
        view.leave(inner);
      }
    }
    return true;
  };
  try {
    using view = new View(job.view);
    const complete = view.at(job.path, { access: "see" }, (place) => {
      const start = place.name === null ? place.directory : view.enter(place.directory, place.name);
      if (start === null) {
        const missing = view.kindOf(place) === null;
        throw new ToolFailure(missing ? "not_found" : "not_a_file", `${place.shown} is no directory`);
      }
      try {
        return visit(view, start, place.shown, 0);
      } finally {
        if (start !== place.directory) view.leave(start);
      }
    });
    return { status: "succeeded", result: { entries: entries.map((entry) => ({ ...entry })), more: !complete || cut } };
  } catch (error) {
    return outcomeOf(error);
  }
}

/** Directories and files, in order; links, pipes and sockets are not shown. */
function namesIn(view: View, directory: Directory): { names: Named[]; more: boolean } {
  const names: Named[] = [];
  const stream = opendirSync(directory.path, { bufferSize: 1024 });
  try {
    for (let entry = stream.readSync(); entry !== null; entry = stream.readSync()) {
      const { name } = entry;
      if (names.length === maxNames) return { names: names.sort(compare), more: true };
      const place = { directory, name, shown: name };
      if (entry.isDirectory() || view.kindOf(place) === "directory") names.push({ name, directory: true });
      else if (entry.isFile()) names.push({ name, directory: false });
    }
  } finally {
    stream.closeSync();
  }
  return { names: names.sort(compare), more: false };
}

/** Directories first, then by name, byte by byte as the index of files has them. */
function compare(a: Named, b: Named): number {
  if (a.directory !== b.directory) return a.directory ? -1 : 1;
  if (a.name === b.name) return 0;
  return plain.test(a.name) && plain.test(b.name)
    ? a.name < b.name
      ? -1
      : 1
    : Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));
}

await serveGuarded(listing);
