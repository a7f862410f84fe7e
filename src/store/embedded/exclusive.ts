/** One process at a time may start, join or stop the stores of a data directory. */
import { Database } from "bun:sqlite";

/**
 * Runs `work` while holding the lock file.
 *
 * The lock is SQLite's file lock, which the operating system releases when its holder dies, however
 * that happens: there is no stale lock to recognise.
 *
 * @param waitMs how long to wait for another holder before giving up
 * @throws when the lock could not be taken in time, and what `work` throws
 */
export async function exclusively<T>(lockFile: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + waitMs;
  const database = new Database(lockFile, { create: true });
  try {
    while (!tryBegin(database)) {
      if (performance.now() > deadline) throw new Error(`another process holds ${lockFile} for more than ${waitMs} ms`);
      await Bun.sleep(20);
    }
    return await work();
  } finally {
    database.close();
  }
}

function tryBegin(database: Database): boolean {
  try {
    database.run("begin exclusive");
    return true;
  } catch (error) {
    if (error instanceof Error && (error as Error & { code?: string }).code?.startsWith("SQLITE_BUSY")) return false;
    throw error;
  }
}
