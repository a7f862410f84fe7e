/** A full disk: what has to be written waits or is refused until there is room again. */
import { statfsSync } from "node:fs";

/** Left on a file system for what is under way already, bytes and entries. */
const reservedBytes = 4 * 1_048_576;
const reservedEntries = 64;
/** That there is room is believed for so long, ms. */
const believedMs = 500;
const pauseMs = 500;

/** Whether an error says that a file system, or a quota on it, is used up. */
export const lacksRoom = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");

/**
 * Tells whether the file system of a directory has too little room to begin anything. Cheap enough to be asked for each start.
 * @param now monotonic milliseconds
 */
export function roomOf(directory: string, now: () => number = () => performance.now()): () => boolean {
  let knownAt = Number.NEGATIVE_INFINITY;
  let hasRoom = true;
  return () => {
    if (!hasRoom || now() - knownAt >= believedMs) {
      knownAt = now();
      hasRoom = look(directory);
    }
    return hasRoom;
  };
}

function look(directory: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(directory);
    // Some file systems do not count entries.
    return bavail * bsize >= reservedBytes && (files === 0 || ffree >= reservedEntries);
  } catch {
    // That it cannot be told is another fault, which the write will meet.
    return true;
  }
}

/**
 * Does what writes, again while there is no room for it. It must be repeatable.
 * @param signal ends the wait @throws what else the work throws, the signal's reason
 */
export async function untilRoom<T>(work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!lacksRoom(error)) throw error;
    }
    await Bun.sleep(pauseMs);
    signal?.throwIfAborted();
  }
}
