/**
 * The `fs.*` tools that walk a tree. They run in a process of their own with a budget (`src/features/tools/fs/scan-program.ts`),
 * because neither the size of the tree nor the cost of a pattern is ours to choose. No link is followed.
 */
import { closeSync, constants, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { join, posix } from "node:path";
import { Pattern } from "../../../actors/manifest/json-schema/pattern.ts";
import { PatternRefused } from "../../../actors/manifest/json-schema/pattern-syntax.ts";
import { readBytes, textOf } from "./files.ts";
import { ToolFailure } from "./outcome.ts";
import { type Directory, look, type Place } from "./place.ts";
import type { FsArguments } from "./schema.ts";
import { maxFileBytes, maxMatches } from "./schema.ts";
import type { View } from "./view.ts";

const maxDepth = 100;
/** Characters of a matching line that are reported. */
const maxLine = 2000;

interface Entry {
  /** Where it is, ready for the next system call. */
  readonly place: Place;
  readonly name: string;
  /** Path relative to where the walk began. */
  readonly relative: string;
  readonly kind: "file" | "directory" | "symlink" | "other";
  readonly size: number;
  readonly modifiedAt: Date;
}

export function list(view: View, { path, recursive, limit }: FsArguments<"fs.list">) {
  const entries: {
    name: string;
    path: string;
    file_type: string;
    size_bytes: number;
    modified_at: string;
  }[] = [];
  let truncated = false;
  const shown = walk(view, path, (entry) => {
    if (entries.length === limit) {
      truncated = true;
      return "stop";
    }
    entries.push({
      name: entry.name,
      path: entry.place.shown,
      file_type: entry.kind,
      size_bytes: entry.size,
      modified_at: entry.modifiedAt.toISOString(),
    });
    return recursive ? "enter" : "skip";
  });
  return { path: shown, entries, count: entries.length, truncated };
}

export function glob(view: View, { pattern, path }: FsArguments<"fs.glob">) {
  const matcher = new Bun.Glob(pattern.replace(/^\/workspace\//, ""));
  const matches: string[] = [];
  let truncated = false;
  walk(view, path, (entry) => {
    if (!matcher.match(entry.relative)) return "enter";
    if (matches.length === maxMatches) {
      truncated = true;
      return "stop";
    }
    matches.push(entry.place.shown);
    return "enter";
  });
  return { matches, count: matches.length, truncated };
}

export function grep(view: View, given: FsArguments<"fs.grep">) {
  const pattern = compile(given.pattern, given.case_sensitive ? "" : "i");
  const include = given.include === undefined ? null : new Bun.Glob(given.include);
  const matches: { file: string; line_number: number; line: string }[] = [];
  let truncated = false;
  const search = (place: Place): void => {
    const lines = linesOf(view, place);
    if (lines === "too_large") truncated = true;
    else
      for (const [index, line] of lines.entries()) {
        if (!pattern.test(line)) continue;
        if (matches.length === maxMatches) {
          truncated = true;
          return;
        }
        matches.push({
          file: place.shown,
          line_number: index + 1,
          line: line.slice(0, maxLine),
        });
      }
  };
  const single = view.at(given.path, { access: "see" }, (place) => {
    const file = place.name !== null && view.kindOf(place) === "file" && view.shows(place, "file");
    if (file) search(place);
    return file;
  });
  if (!single) {
    walk(view, given.path, (entry) => {
      if (truncated && matches.length === maxMatches) return "stop";
      const wanted = include === null || include.match(entry.name) || include.match(entry.relative);
      if (entry.kind === "file" && wanted) search(entry.place);
      return "enter";
    });
  }
  return { matches, count: matches.length, truncated };
}

/** Removes a directory with everything below it. */
export function deleteTree(view: View, { path }: FsArguments<"fs.delete">) {
  return view.at(path, { access: "write", keepLink: true }, (place) => {
    if (place.name === null) throw new ToolFailure("forbidden", `${place.shown} is the root of a mount`);
    if (view.holdsMount(place)) throw new ToolFailure("forbidden", `${place.shown} holds a mount`);
    if (view.kindOf(place) === null) throw new ToolFailure("not_found", `${place.shown} does not exist`);
    removeTree(view, place, 0);
    return { path: place.shown, deleted: true };
  });
}

function removeTree(view: View, place: Place, depth: number): void {
  view.requireListed(place);
  if (place.name === null || depth > 2 * maxDepth) throw new ToolFailure("storage_error", `${place.shown} is too deep`);
  const path = join(place.directory.path, place.name);
  const directory = view.enter(place.directory, place.name);
  if (!directory) {
    unlinkSync(path);
    return;
  }
  try {
    for (const name of readdirSync(directory.path)) {
      removeTree(view, { directory, name, shown: posix.join(place.shown, name) }, depth + 1);
    }
  } finally {
    view.leave(directory);
  }
  rmdirSync(path);
}

type Step = "enter" | "skip" | "stop";

/** Visits everything below a directory, names in order, parents before children. Returns the directory's path. */
function walk(view: View, path: string, visit: (entry: Entry) => Step): string {
  return view.at(path, { access: "see" }, (place) => {
    const start = place.name === null ? place.directory : view.enter(place.directory, place.name);
    if (!start) {
      const missing = view.kindOf(place) === null;
      throw new ToolFailure(
        missing ? "not_found" : "not_a_directory",
        `${place.shown} ${missing ? "does not exist" : "is not a directory"}`,
      );
    }
    try {
      visitAll(view, start, place.shown, "", visit, 0);
    } finally {
      if (start !== place.directory) view.leave(start);
    }
    return place.shown;
  });
}

function visitAll(
  view: View,
  directory: Directory,
  shown: string,
  relative: string,
  visit: (entry: Entry) => Step,
  depth: number,
): Step {
  for (const name of readdirSync(directory.path).sort()) {
    const entry = entryAt(view, { directory, name, shown: posix.join(shown, name) }, relative);
    // Gone since the directory was read, or a name that is not UTF-8.
    if (entry === null) continue;
    const step = visit(entry);
    if (step === "stop") return "stop";
    if (step === "skip" || entry.kind !== "directory" || depth >= maxDepth) continue;
    const inner = view.enter(directory, name);
    if (!inner) continue;
    try {
      if (visitAll(view, inner, entry.place.shown, entry.relative, visit, depth + 1) === "stop") return "stop";
    } finally {
      view.leave(inner);
    }
  }
  return "enter";
}

function entryAt(view: View, place: Place & { readonly name: string }, above: string): Entry | null {
  const stats = look(place);
  const kind = view.kindOf(place);
  if (stats === null || kind === null || !view.shows(place, kind)) return null;
  const relative = above === "" ? place.name : `${above}/${place.name}`;
  return { place, name: place.name, relative, kind, size: stats.size, modifiedAt: stats.mtime };
}

function linesOf(view: View, place: Place): readonly string[] | "too_large" {
  let opened: ReturnType<View["openFile"]>;
  try {
    opened = view.openFile(place, constants.O_RDONLY);
  } catch {
    return [];
  }
  try {
    if (opened.stats.size > maxFileBytes) return "too_large";
    const text = textOf(readBytes(opened.fd, 0, opened.stats.size));
    if (text === null) return [];
    const lines = text.split(/\r?\n/);
    if (lines.at(-1) === "") lines.pop();
    return lines;
  } finally {
    closeSync(opened.fd);
  }
}

function compile(pattern: string, flags: string): Pattern {
  try {
    return new Pattern(pattern, flags);
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error;
    throw new ToolFailure("invalid_arguments", `pattern: ${error.message}`);
  }
}
