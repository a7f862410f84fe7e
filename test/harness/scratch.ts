/**
 * Where tests put files: a folder of the test process, which is the temporary directory (`TMPDIR`) of everything in it
 * and of what it starts. It is removed when the process is through, and by a later one where the process was killed.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeDirectory } from "../../src/lib/files/remove-directory.ts";
import { identify, isAlive, type ProcessIdentity } from "../../src/lib/processes/process-table.ts";

const prefix = "svc-test-";
/** What `TMPDIR` meant before the first process of a test run changed it. */
const systemVariable = "SVC_TEST_SYSTEM_TMPDIR";

/** The machine's own temporary directory, for what cannot be removed like a folder of files. */
export const systemTemporary = (): string => process.env[systemVariable] ?? tmpdir();

/** Gives this process a temporary directory of its own. Returns what removes it. */
export async function enterScratch(): Promise<() => Promise<void>> {
  process.env[systemVariable] ??= tmpdir();
  await removeAbandoned(tmpdir());
  const folder = mkdtempSync(join(tmpdir(), prefix));
  writeFileSync(join(folder, "owner"), JSON.stringify(identify(process.pid)));
  // Stores and agents run as other users, which have to pass through, as they do through the system's own.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => removeDirectory(folder);
}

/** A fresh, empty directory. */
export function scratch(name: string): string {
  return mkdtempSync(join(tmpdir(), `${name}-`));
}

async function removeAbandoned(directory: string): Promise<void> {
  for (const name of readdirSync(directory).filter((entry) => entry.startsWith(prefix))) {
    if (isAbandoned(join(directory, name, "owner"))) await removeDirectory(join(directory, name));
  }
}

function isAbandoned(owner: string): boolean {
  try {
    const identity: ProcessIdentity = JSON.parse(readFileSync(owner, "utf8"));
    return !isAlive(identity);
  } catch {
    // Just being made, or just being removed.
    return false;
  }
}
