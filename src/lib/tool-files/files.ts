/** The `fs.*` tools that touch one file or directory: each opens a place, does one thing, and reports it. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { wholeCharacters } from "../../../actors/kernel/text.ts";
import { ToolFailure } from "./outcome.ts";
import { address, look, type Place } from "./place.ts";
import type { FsArguments } from "./schema.ts";
import { maxFileBytes } from "./schema.ts";
import type { View } from "./view.ts";

/** Reads part of a file; text where the bytes are UTF-8 without NUL, base64 otherwise. */
export function read(view: View, { path, offset, max_bytes }: FsArguments<"fs.read">) {
  return view.at(path, { access: "read" }, (place) => {
    const { fd, stats } = view.openFile(place, constants.O_RDONLY);
    try {
      const bytes = readBytes(fd, offset, Math.min(max_bytes, Math.max(0, stats.size - offset)));
      const ended = offset + bytes.length >= stats.size;
      const whole = ended ? bytes : bytes.subarray(0, wholeCharacters(bytes));
      const text = textOf(whole.length > 0 || bytes.length === 0 ? whole : bytes);
      const taken = text === null ? bytes : whole;
      return {
        path: place.shown,
        content: text ?? bytes.toString("base64"),
        encoding: text === null ? "base64" : "utf-8",
        size_bytes: stats.size,
        offset,
        truncated: offset + taken.length < stats.size,
      };
    } finally {
      closeSync(fd);
    }
  });
}

export function write(view: View, given: FsArguments<"fs.write">) {
  const bytes = decode(given.content, given.encoding);
  return view.at(given.path, { access: "write", createParents: given.create_parents }, (place) => {
    const before = look(place);
    if (before && !before.isFile()) throw new ToolFailure("not_a_file", `${place.shown} is not a file`);
    if (given.mode === "create_new") {
      if (before) throw new ToolFailure("already_exists", `${place.shown} exists already`);
      putFile(view, place, bytes, { exclusive: true });
    } else if (given.mode === "append" && before) {
      append(view, place, bytes);
    } else {
      putFile(view, place, bytes, before ? { mode: before.mode } : {});
    }
    return {
      path: place.shown,
      bytes_written: bytes.length,
      created: before === null,
    };
  });
}

export function createDirectory(view: View, { path }: FsArguments<"fs.create_dir">) {
  return view.at(path, { access: "write", createParents: true }, (place) => {
    if (place.name === null) throw new ToolFailure("forbidden", `${place.shown} is the root of a mount`);
    const before = look(place);
    if (before && !before.isDirectory()) throw new ToolFailure("already_exists", `${place.shown} exists already`);
    if (!before) view.makeDirectory(place.directory, place.name);
    return { path: place.shown, created: before === null };
  });
}

/** Removes a file, a link or an empty directory. The link itself goes, never what it points to. */
export function deleteOne(view: View, { path }: { readonly path: string }) {
  return view.at(path, { access: "write", keepLink: true }, (place) => {
    if (place.name === null) throw new ToolFailure("forbidden", `${place.shown} is the root of a mount`);
    const stats = look(place);
    if (!stats) throw new ToolFailure("not_found", `${place.shown} does not exist`);
    if (stats.isDirectory()) rmdirSync(address(place));
    else unlinkSync(address(place));
    return { path: place.shown, deleted: true };
  });
}

/** Characters of a file that are looked through for all edits of a call on the main thread. */
const maxCharactersHere = 2 * 1024 * 1024;

/** The edits take too long for the main thread; nothing has been done. */
export class TooMuchHere extends Error {
  override readonly name = "TooMuchHere";
}

/**
 * @param most characters that may be looked through here
 * @throws TooMuchHere when there are more
 */
export function edit(view: View, given: FsArguments<"fs.edit">, most = maxCharactersHere) {
  return rewrite(view, given.path, (text, shown) => {
    if (text.length > most) throw new TooMuchHere();
    const [next, replacements] = replaceText(text, given, given.replace_all, shown);
    return [next, { path: shown, replacements }];
  });
}

/** As `edit`. */
export function multiEdit(view: View, given: FsArguments<"fs.multi_edit">, most = maxCharactersHere) {
  return rewrite(view, given.path, (text, shown) => {
    let next = text;
    let looked = 0;
    for (const step of given.edits) {
      looked += next.length;
      if (looked > most) throw new TooMuchHere();
      [next] = replaceText(next, step, false, shown);
    }
    return [next, { path: shown, edits_applied: given.edits.length }];
  });
}

type Replacement = {
  readonly target_content: string;
  readonly replacement_content: string;
};

function replaceText(text: string, change: Replacement, all: boolean, shown: string): [next: string, count: number] {
  const pieces = text.split(change.target_content);
  const found = pieces.length - 1;
  if (found === 0) throw new ToolFailure("no_match", `The target text does not occur in ${shown}`);
  if (found > 1 && !all) throw new ToolFailure("multiple_matches", `The target text occurs ${found} times in ${shown}`);
  const size = text.length + found * (change.replacement_content.length - change.target_content.length);
  if (size > maxFileBytes) throw tooLarge(shown);
  return [pieces.join(change.replacement_content), found];
}

function rewrite<R>(view: View, path: string, change: (text: string, shown: string) => [next: string, result: R]): R {
  return view.at(path, { access: "write" }, (place) => {
    const { fd, stats } = view.openFile(place, constants.O_RDONLY);
    let text: string | null;
    try {
      if (stats.size > maxFileBytes) throw tooLarge(place.shown);
      text = textOf(readBytes(fd, 0, stats.size));
    } finally {
      closeSync(fd);
    }
    if (text === null) throw new ToolFailure("unsupported_content_type", `${place.shown} is not a text file`);
    const [next, result] = change(text, place.shown);
    const bytes = Buffer.from(next);
    if (bytes.length > maxFileBytes) throw tooLarge(place.shown);
    putFile(view, place, bytes, { mode: stats.mode });
    return result;
  });
}

/** Writes beside the target and moves it into place: readers see the old file or the new one, whole. */
function putFile(
  view: View,
  place: Place,
  bytes: Buffer,
  how: { readonly mode?: number; readonly exclusive?: boolean },
): void {
  if (place.name === null) throw new ToolFailure("not_a_file", `${place.shown} is a directory`);
  view.fit(place, bytes.length - (look(place)?.size ?? 0));
  const draft = join(place.directory.path, `.svc-${randomUUID()}`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = openSync(draft, flags, 0o644);
  try {
    try {
      writeAll(fd, bytes);
      if (how.mode !== undefined) fchmodSync(fd, how.mode & 0o777);
      view.adopt(place.directory, fd);
    } finally {
      closeSync(fd);
    }
    if (how.exclusive) linkSync(draft, address(place));
    else renameSync(draft, address(place));
  } catch (error) {
    unlinkSync(draft);
    throw error;
  }
  if (how.exclusive) unlinkSync(draft);
}

function append(view: View, place: Place, bytes: Buffer): void {
  const { fd, stats } = view.openFile(place, constants.O_RDWR | constants.O_APPEND);
  try {
    if (stats.nlink === 1) {
      view.fit(place, bytes.length);
      writeAll(fd, bytes);
      return;
    }
    // Another name shares the file: leave that one as it is.
    if (stats.size + bytes.length > maxFileBytes) throw tooLarge(place.shown);
    putFile(view, place, Buffer.concat([readBytes(fd, 0, stats.size), bytes]), { mode: stats.mode });
  } finally {
    closeSync(fd);
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** Reads up to `length` bytes from `offset`; fewer when the file ends before. */
export function readBytes(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.min(length, Math.max(0, fstatSync(fd).size - offset)));
  let done = 0;
  while (done < bytes.length) {
    const got = readSync(fd, bytes, done, bytes.length - done, offset + done);
    if (got === 0) break;
    done += got;
  }
  return bytes.subarray(0, done);
}

function decode(content: string, encoding: "utf-8" | "base64"): Buffer {
  if (encoding === "base64" && !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(content)) {
    throw new ToolFailure("invalid_arguments", "content: not base64");
  }
  const bytes = Buffer.from(content, encoding);
  if (bytes.length > maxFileBytes) throw tooLarge("content");
  return bytes;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The bytes as text, or null when they are not UTF-8 text. */
export function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

function tooLarge(shown: string): ToolFailure {
  return new ToolFailure("file_too_large", `${shown} is larger than ${maxFileBytes} bytes`);
}
