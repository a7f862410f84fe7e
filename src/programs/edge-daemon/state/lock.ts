/** One daemon for each state directory: the lock ends with the process that holds it, however that ends. */
import { dlopen } from "bun:ffi";
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { reasonOf, type StateDirectory } from "./directory.ts";
import { EdgeFailure, exits } from "./failure.ts";

const exclusive = 2 | 4;
/** For a look: two of them do not see each other. */
const shared = 1 | 4;
/** A look at the lock holds it for a moment, so that a daemon tries again within this time before it gives up. */
const looks = { times: 50, everyMs: 10 };

/** @throws EdgeFailure when another process holds it. Returns what lets go of it. */
export function takeLock(state: StateDirectory): () => void {
  // Never given to children, which would hold it after the daemon's end.
  const fd = opened(state.lock);
  let isMine = lockFile(fd, exclusive);
  for (let time = 1; !isMine && time < looks.times; time++) {
    Bun.sleepSync(looks.everyMs);
    isMine = lockFile(fd, exclusive);
  }
  // A lock on a file that was wiped meanwhile keeps no other process out.
  if (!isMine || statSync(state.lock, { throwIfNoEntry: false })?.ino !== fstatSync(fd).ino) {
    closeSync(fd);
    const holder = lockHolder(state);
    const by = holder === null ? "another process" : `process ${holder}`;
    throw new EdgeFailure(exits.conflict, `${state.path} is in use by ${by}`);
  }
  ftruncateSync(fd, 0);
  writeSync(fd, `${process.pid}\n`);
  return () => closeSync(fd);
}

function opened(path: string): number {
  try {
    return openSync(path, "a+", 0o600);
  } catch (error) {
    throw new EdgeFailure(exits.conflict, `${path} cannot be opened: ${reasonOf(error)}`);
  }
}

/** The process that holds or held it last, by its own word; null: none. Ask `isLocked` whether it still runs. */
export function lockHolder(state: StateDirectory): number | null {
  try {
    const pid = Number(readFileSync(state.lock, "utf8").trim());
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

/** Whether a daemon runs on the directory. */
export function isLocked(state: StateDirectory): boolean {
  let fd: number;
  try {
    fd = openSync(state.lock, "r+");
  } catch {
    return false;
  }
  try {
    return !lockFile(fd, shared);
  } finally {
    closeSync(fd);
  }
}

const libraries = [
  ...(process.platform === "darwin" ? ["libSystem.B.dylib"] : ["libc.so.6"]),
  `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`,
];

function lockFile(fd: number, how: number): boolean {
  for (const library of libraries) {
    let flock: (fd: number, how: number) => number;
    try {
      ({ flock } = dlopen(library, { flock: { args: ["i32", "i32"], returns: "i32" } }).symbols);
    } catch {
      continue;
    }
    return flock(fd, how) === 0;
  }
  throw new EdgeFailure(exits.failed, "The C library of this system was not found, so that nothing can be locked");
}
