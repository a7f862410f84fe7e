/** The file of the journal: reading it when the daemon starts, and the system calls of writing it. */
import { close, fdatasync, fsync, ftruncateSync, open, openSync, read, readSync, rename, write } from "node:fs";
import { promisify } from "node:util";
import { codeOf } from "../state/directory.ts";
import { decodeLine, type JournalRecord, type Span } from "./record.ts";

// Not `node:fs/promises`, which takes memory of its own.
export const openFile = promisify(open);
export const closeFile = promisify(close);
export const syncFile = promisify(fsync);
export const syncData = promisify(fdatasync);
export const renameFile = promisify(rename);

/** Writes all of it at an offset. @throws what the system says, `ENOSPC` among it */
export async function writeAt(fd: number, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += await new Promise<number>((resolve, reject) => {
      write(fd, bytes, done, bytes.length - done, at + done, (error, count) =>
        error ? reject(error) : resolve(count),
      );
    });
  }
}

export async function readAt(fd: number, { at, length }: Span): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const count = await new Promise<number>((resolve, reject) => {
      read(fd, bytes, done, length - done, at + done, (error, got) => (error ? reject(error) : resolve(got)));
    });
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

export interface OpenedFile {
  readonly fd: number;
  /** Bytes that are sound. */
  readonly size: number;
}

/**
 * Reads every record in order and opens the file for writing. What a torn write left at its end is cut off.
 * @returns null where there is no file; `damaged` where something else than its end is unsound
 */
export function readJournal(
  path: string,
  each: (record: JournalRecord, place: Span) => void,
): OpenedFile | "damaged" | null {
  const found = openExisting(path);
  if (found === null) return null;
  const { fd, isWritable } = found;
  let sound = 0;
  let at = 0;
  let isTorn = false;
  for (const line of linesOf(fd)) {
    const decoded = decodeLine(line);
    if (decoded !== null && isTorn) return "damaged";
    if (decoded === null) isTorn = true;
    else {
      for (const [index, record] of decoded.records.entries()) each(record, placed(decoded.spans[index], at));
      sound = at + line.length;
    }
    at += line.length;
  }
  if (isTorn && isWritable) ftruncateSync(fd, sound);
  return { fd, size: sound };
}

/** Where a part of a line is in the file. */
export const placed = (span: Span | undefined, lineAt: number): Span => ({
  at: lineAt + (span?.at ?? 0),
  length: span?.length ?? 0,
});

/** Also where it may not be written: what it says counts all the same. */
function openExisting(path: string): { readonly fd: number; readonly isWritable: boolean } | null {
  try {
    return { fd: openSync(path, "r+"), isWritable: true };
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return null;
    if (code === "EROFS" || code === "EACCES") return { fd: openSync(path, "r"), isWritable: false };
    throw error;
  }
}

const chunkBytes = 262_144;

/** Lines with their line ends; the last one may have none. */
function* linesOf(fd: number): Generator<Buffer> {
  let rest: Buffer[] = [];
  const chunk = Buffer.allocUnsafe(chunkBytes);
  for (let at = 0; ; ) {
    const count = readSync(fd, chunk, 0, chunkBytes, at);
    if (count === 0) break;
    at += count;
    let from = 0;
    for (let end = chunk.indexOf(0x0a, from); end >= 0 && end < count; end = chunk.indexOf(0x0a, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end + 1)]);
      rest = [];
      from = end + 1;
    }
    if (from < count) rest.push(Buffer.from(chunk.subarray(from, count)));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
