/** JSON files that several processes read and write. */
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";

// No `node:fs/promises` here: loading it costs a sandbox's supervisor as much as the rest of its start.

/** Reads a JSON file; null when it is absent or incomplete. */
export async function readJson<T>(path: string): Promise<T | null> {
  try {
    return (await Bun.file(path).json()) as T;
  } catch {
    return null;
  }
}

/** Writes a file so that a reader sees all of it or nothing. */
export async function writeAtomically(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}`;
  // Not `Bun.write`, which takes no mode; a stricter umask must not keep agents from what they are given.
  try {
    writeFileSync(draft, content, { mode });
    chmodSync(draft, mode);
    renameSync(draft, path);
  } catch (error) {
    // Half a draft on a full disk would keep it full.
    rmSync(draft, { force: true });
    throw error;
  }
}
