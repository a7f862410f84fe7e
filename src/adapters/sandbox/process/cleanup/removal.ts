/**
 * What is left of a removed instance for a while: its directory with nothing but the claim. A node that was frozen in the
 * middle of the launch of this instance cannot put what it prepared in its place, and starts nothing.
 */
import { existsSync, mkdirSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { lacksRoom } from "../../../../lib/files/disk-room.ts";
import { takeClaim } from "../layout.ts";

/** Longer than a node is frozen and then goes on; its next question finds that the instance is not wanted any more. */
const keptMs = 600_000;

/** Takes away what the instance left. Repeatable. */
export async function leaveMark(directory: string): Promise<void> {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    takeClaim(directory);
  } catch (error) {
    // What was never prepared leaves no mark on a full disk.
    if (!lacksRoom(error)) throw error;
    await rm(directory, { recursive: true, force: true });
    return;
  }
  for (const name of await readdir(directory)) {
    if (name !== "claim") await rm(join(directory, name), { recursive: true, force: true });
  }
}

/** Removes the mark of an instance that was removed long ago; other directories stay. */
export async function forgetRemoved(directory: string): Promise<void> {
  if (existsSync(join(directory, "launch.json"))) return;
  const claimed = await stat(join(directory, "claim")).catch(() => null);
  if (claimed !== null && Date.now() - claimed.mtimeMs > keptMs) await rm(directory, { recursive: true, force: true });
}
