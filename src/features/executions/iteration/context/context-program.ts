/** The process that reads files for `spec.context`: neither the size nor the depth of a tree is ours to choose. */
import { closeSync, constants, opendirSync } from "node:fs";
import { posix } from "node:path";
import { wholeCharacters } from "../../../../../actors/kernel/text.ts";
import { serveGuarded } from "../../../../lib/guarded/serve.ts";
import type { ViewSpec } from "../../../tools/fs/port.ts";
import { type Directory, type Place, readBytes, textOf, View } from "../../../tools/fs/port.ts";
import { outcomeOf, ToolFailure, type ToolOutcome } from "../../../tools/port.ts";

export interface ContextJob {
  readonly view: ViewSpec;
  readonly path: string;
  readonly kind: "file" | "directory";
  /** Bytes of text wanted at most. */
  readonly maxBytes: number;
}

/** The `result` of a job that succeeded. */
export interface ContextText {
  readonly text: string;
  /** Whether there was more. */
  readonly truncated: boolean;
}

const maxDepth = 100;
/** Names looked at in one directory, and files read in all. */
const maxNames = 100_000;
const maxFiles = 10_000;

function load(job: ContextJob): ToolOutcome {
  try {
    leadToMounts(job.view);
    using view = new View(job.view);
    const { text, truncated } = job.kind === "file" ? fileText(view, job) : directoryText(view, job);
    return { status: "succeeded", result: { text, truncated } };
  } catch (error) {
    return outcomeOf(error);
  }
}

/** Before the first instance nothing leads to a mount within another one yet: what it lies in is made. */
function leadToMounts(spec: ViewSpec): void {
  using view = new View({ ...spec, rules: null });
  for (const { target } of spec.mounts) {
    try {
      view.at(target, { access: "see", createParents: true }, () => {});
    } catch {
      // Something is in the way: the mount fails and says so.
    }
  }
}

function fileText(view: View, { path, maxBytes }: ContextJob): ContextText {
  return view.at(path, { access: "read" }, (place) => {
    const found = read(view, place, maxBytes);
    if (found === null) throw new ToolFailure("unsupported_content_type", `${place.shown} is not a text file`);
    return found;
  });
}

/** Every text file below, each under its path from there, in the order of their names. Links are not followed. */
function directoryText(view: View, { path, maxBytes, view: { mounts } }: ContextJob): ContextText {
  const pieces: string[] = [];
  let room = maxBytes;
  let files = 0;
  let truncated = false;
  /** @returns false when there is no room for more */
  const visit = (directory: Directory, within: string, depth: number): boolean =>
    namesIn(directory, mounts).every((name) => {
      const place = { directory, name, shown: posix.join(path, within, name) };
      const relative = posix.join(within, name);
      const kind = view.kindOf(place);
      if (kind === null || !view.shows(place, kind)) return true;
      if (kind === "file") return add(place, relative);
      return kind !== "directory" || depth === maxDepth || descend(directory, name, relative, depth + 1);
    });
  const descend = (parent: Directory, name: string, relative: string, depth: number): boolean => {
    const inner = view.enter(parent, name);
    if (inner === null) return true;
    try {
      return visit(inner, relative, depth);
    } finally {
      view.leave(inner);
    }
  };
  const add = (place: Place, relative: string): boolean => {
    const heading = `### ${relative}\n\n`;
    const left = room - Buffer.byteLength(heading);
    if (left <= 0 || files === maxFiles) return false;
    files += 1;
    const found = readable(view, place, left);
    if (found === null) return true;
    const piece = `${heading}${found.text.trimEnd()}`;
    pieces.push(piece);
    room -= Buffer.byteLength(piece) + 2;
    return !found.truncated;
  };
  view.at(path, { access: "see" }, (place) => {
    const start = place.name === null ? place.directory : view.enter(place.directory, place.name);
    if (start === null) {
      const missing = view.kindOf(place) === null;
      throw new ToolFailure(missing ? "not_found" : "not_a_directory", `${place.shown} is no directory`);
    }
    try {
      truncated = !visit(start, "", 0);
    } finally {
      if (start !== place.directory) view.leave(start);
    }
  });
  return { text: pieces.join("\n\n"), truncated };
}

/** What is there, and what is mounted there. */
function namesIn(directory: Directory, mounts: ViewSpec["mounts"]): string[] {
  const names: string[] = [];
  const stream = opendirSync(directory.path, { bufferSize: 1024 });
  try {
    for (let entry = stream.readSync(); entry !== null && names.length < maxNames; entry = stream.readSync()) {
      names.push(entry.name);
    }
  } finally {
    stream.closeSync();
  }
  const mounted = mounts.map(({ target }) => target).filter((target) => posix.dirname(target) === directory.at);
  return [...new Set([...names, ...mounted.map((target) => posix.basename(target))])].sort((a, b) => (a < b ? -1 : 1));
}

/** Null for what is no text, and for what cannot be read: the rest of a directory is worth having. */
function readable(view: View, place: Place, maxBytes: number): ContextText | null {
  try {
    return read(view, place, maxBytes);
  } catch {
    return null;
  }
}

function read(view: View, place: Place, maxBytes: number): ContextText | null {
  const { fd, stats } = view.openFile(place, constants.O_RDONLY);
  try {
    const bytes = readBytes(fd, 0, Math.min(maxBytes, stats.size));
    const truncated = bytes.length < stats.size;
    const text = textOf(truncated ? bytes.subarray(0, wholeCharacters(bytes)) : bytes);
    return text === null ? null : { text, truncated };
  } finally {
    closeSync(fd);
  }
}

await serveGuarded(load);
