/** A file of this host, open for reading. */
import { closeSync } from "node:fs";
import { readBytes } from "../../../tools/fs/port.ts";
import type { Content, OpenContent, Sendable } from "../port.ts";
import type { OpenedFile } from "./reading.ts";

/** Bun opens the file for itself when it begins to answer, which is at once; this is more than enough, ms. */
const closeAfterMs = 250;

/** The very file that was opened, even if its path leads elsewhere by now. Bun announces its length, unlike a stream's. */
function bodyOfFile(fd: number, part: { readonly start: number; readonly end: number } | null): Blob {
  const content = Bun.file(process.platform === "linux" ? `/proc/self/fd/${fd}` : `/dev/fd/${fd}`);
  return part === null ? content : content.slice(part.start, part.end);
}

/** Takes over the descriptor. */
export function contentOnDisk(file: OpenedFile, path: string, content: Content): OpenContent {
  const { fd, stats, name } = file;
  return {
    ...sendableFile(file),
    entry: { name, path, directory: false, size: stats.size, modifiedMs: stats.mtimeMs, content },
    content,
    read: async (start, end) => readBytes(fd, start, end - start),
  };
}

/** As a response sends it. Takes over the descriptor. */
export function sendableFile({ fd, stats, name }: OpenedFile): Sendable {
  let lent = false;
  let open = true;
  return {
    name,
    size: stats.size,
    body(part) {
      lent = true;
      return bodyOfFile(fd, part);
    },
    close() {
      if (!open) return;
      open = false;
      if (lent) setTimeout(() => closeSync(fd), closeAfterMs);
      else closeSync(fd);
    },
  };
}
