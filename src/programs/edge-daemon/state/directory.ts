/**
 * The state directory of a daemon: closed to everybody but the daemon's user, its files replaced as a whole and on disk
 * before they count.
 */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { EdgeFailure, exits } from "./failure.ts";

/** Where its files are. */
export interface StateDirectory {
  readonly path: string;
  /** Ids, addresses and the service's keys. */
  readonly identity: string;
  readonly key: string;
  /** The key that takes the place of `key` once the service has welcomed it. */
  readonly nextKey: string;
  readonly config: string;
  readonly journal: string;
  readonly status: string;
  readonly lock: string;
  /** Former keys and journals. */
  readonly archive: string;
  /** Where commands work; the one part that they may reach. */
  readonly work: string;
}

/** @param path absolute */
export const stateAt = (path: string): StateDirectory => ({
  path,
  identity: join(path, "node.json"),
  key: join(path, "node.key"),
  nextKey: join(path, "node.key.next"),
  config: join(path, "config.yaml"),
  journal: join(path, "journal"),
  status: join(path, "status.json"),
  lock: join(path, "lock"),
  archive: join(path, "archive"),
  work: join(path, "work"),
});

/** `given`, else `SVC_EDGE_STATE_DIR`, else `~/.svc/edge`. */
export function stateDirectory(
  given?: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): StateDirectory {
  const named = given ?? environment.SVC_EDGE_STATE_DIR;
  return stateAt(named ? resolve(withHome(named)) : join(homedir(), ".svc/edge"));
}

/** A path in which a leading `~` stands for the home of the user. */
export const withHome = (path: string): string =>
  path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;

/**
 * Makes what is missing of it, and closes it to others.
 * @throws EdgeFailure where that cannot be, or it belongs to another user
 */
export function prepare(state: StateDirectory): void {
  try {
    for (const path of [state.path, state.archive, state.work]) mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(state.path, 0o700);
    const { uid } = statSync(state.path);
    const own = process.getuid?.() ?? uid;
    if (uid !== own) throw new EdgeFailure(exits.conflict, `${state.path} belongs to another user (${uid})`);
  } catch (error) {
    if (error instanceof EdgeFailure) throw error;
    throw new EdgeFailure(exits.conflict, `${state.path} cannot be used: ${reasonOf(error)}`);
  }
}

/** Null where there is none. @throws EdgeFailure where it cannot be read */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw new EdgeFailure(exits.conflict, `${path} cannot be read: ${reasonOf(error)}`);
  }
}

/**
 * Replaces a file: after a crash there is the former or the new one, whole.
 * @throws what the system says
 */
export function replaceFile(path: string, content: string | Uint8Array, mode = 0o600): void {
  const draft = `${path}.${crypto.randomUUID()}`;
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  try {
    const fd = openSync(draft, "wx", mode);
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
  } catch (error) {
    // Half a draft on a full disk would keep it full.
    rmSync(draft, { force: true });
    throw error;
  }
  syncDirectory(join(path, ".."));
}

/** Puts renames and removals in a directory on disk. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Of a failed system call, `ENOSPC` and the like. */
export function codeOf(error: unknown): string | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" ? code : null;
}

export const reasonOf = (error: unknown): string =>
  codeOf(error) ?? (error instanceof Error ? error.message : String(error));
