/** Which nodes use the stores of a data directory: one file each, named after the process. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identify, isAlive, type ProcessIdentity } from "../../lib/processes/process-table.ts";

/** Enters this process; a process that joins twice has two entries. Returns the entry's file. */
export function enterNode(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}-${crypto.randomUUID().slice(0, 8)}`);
  writeFileSync(file, JSON.stringify(identify(process.pid)));
  return file;
}

/** Removes one entry. */
export function leaveNode(file: string): void {
  rmSync(file, { force: true });
}

/** How many living nodes are entered. Entries of dead processes are removed on the way. */
export function countNodes(folder: string): number {
  let living = 0;
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const identity = readIdentity(file);
    if (identity !== null && isAlive(identity)) living += 1;
    else leaveNode(file);
  }
  return living;
}

/** A recorded process, or null when the file is absent or was cut off while being written. */
function readIdentity(file: string): ProcessIdentity | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (typeof value !== "object" || value === null || !("pid" in value) || !("born" in value)) return null;
    return typeof value.pid === "number" && typeof value.born === "string"
      ? { pid: value.pid, born: value.born }
      : null;
  } catch {
    return null;
  }
}
