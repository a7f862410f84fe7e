/**
 * An object as a file that is open. What a response sends has to have a length that clients are told before it comes; the
 * server tells one of bytes in memory and of files alone, so what is large comes over a file without a name.
 */
import { closeSync, ftruncateSync, openSync, unlinkSync, writeSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { ObjectStore } from "../../../../adapters/objects/port.ts";
import { roomOf } from "../../../../lib/files/disk-room.ts";
import { ToolFailure } from "../../../tools/port.ts";
import type { Content, Entry, OpenContent } from "../port.ts";

/** What a response holds in memory at most. */
const inMemoryBytes = 1024 * 1024;
/** Files that come over the disk at once; others wait. */
const atOnce = 8;
/** The server opens the file for itself when it begins to answer, which is at once; this is more than enough, ms. */
const closeAfterMs = 1_000;

/** @param folder of files on their way out, absolute */
export function objectReader(objects: Pick<ObjectStore, "read">, folder: string) {
  const hasRoom = roomOf(folder);
  const waiting: (() => void)[] = [];
  let under = 0;

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (under >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else under += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) under -= 1;
      else next();
    }
  }

  async function pieces(key: string, start: number, end: number, signal: AbortSignal | null) {
    const source = await objects.read(key, { start, end }, signal);
    if (source === null) throw new ToolFailure("not_found", "The file does not exist any more");
    return source;
  }

  async function inMemory(
    key: string,
    start: number,
    end: number,
    signal: AbortSignal | null,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(end - start);
    let at = 0;
    for await (const piece of await pieces(key, start, end, signal)) {
      bytes.set(piece, at);
      at += piece.byteLength;
    }
    return bytes;
  }

  async function overDisk(key: string, start: number, end: number, signal: AbortSignal | null): Promise<Blob> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (!hasRoom()) throw new Problem("service_unavailable", "No room on this node", {}, { "Retry-After": "5" });
    const path = join(folder, crypto.randomUUID());
    const fd = openSync(path, "wx+", 0o600);
    try {
      unlinkSync(path);
      for await (const piece of await pieces(key, start, end, signal)) {
        for (let at = 0; at < piece.byteLength; ) at += writeSync(fd, piece, at);
      }
    } catch (error) {
      // What has no name takes its room until it is closed by all.
      ftruncateSync(fd, 0);
      closeSync(fd);
      throw error;
    }
    setTimeout(() => closeSync(fd), closeAfterMs);
    return Bun.file(process.platform === "linux" ? `/proc/self/fd/${fd}` : `/dev/fd/${fd}`);
  }

  return {
    open(key: string, entry: Entry, content: Content, signal: AbortSignal | null): OpenContent {
      return {
        name: entry.name,
        size: entry.size,
        entry,
        content,
        body: async (part) => {
          const { start, end } = part ?? { start: 0, end: entry.size };
          if (end - start <= inMemoryBytes) return new Blob([await inMemory(key, start, end, signal)]);
          return inTurn(() => overDisk(key, start, end, signal));
        },
        read: (start, end) => inMemory(key, start, Math.min(end, entry.size), signal),
        close: () => {},
      };
    },
  };
}
