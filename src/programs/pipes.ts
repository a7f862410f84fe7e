/**
 * Real pipes for children. Bun gives a child whose output is piped a socket, and a program that opens
 * `/dev/stderr` or `/dev/stdout` by name fails on a socket; shell scripts do that all the time.
 */
import { dlopen, ptr } from "bun:ffi";
import { closeSync, fchownSync } from "node:fs";

const closeOnExec = 0o2000000;

export interface Pipe {
  /** Hand this to the child, then close it here. */
  readonly writeEnd: number;
  readonly readEnd: number;
}

type MakePipe = () => Pipe | null;
let makePipe: MakePipe | undefined;

/** A fresh pipe, or null where the C library cannot be reached (then let Bun make its socket). */
function openPipe(): Pipe | null {
  makePipe ??= loadPipe();
  return makePipe();
}

function loadPipe(): MakePipe {
  if (process.platform !== "linux") return () => null;
  for (const library of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      const { symbols } = dlopen(library, { pipe2: { args: ["ptr", "i32"], returns: "i32" } });
      return () => {
        const ends = new Int32Array(2);
        const [readEnd, writeEnd] = symbols.pipe2(ptr(ends), closeOnExec) === 0 ? ends : [];
        return readEnd === undefined || writeEnd === undefined ? null : { readEnd, writeEnd };
      };
    } catch {}
  }
  return () => null;
}

export interface ChildOutput {
  /** What to give the child as its stdout or stderr. */
  readonly stdio: number | "pipe";
  /** Call after spawning, with the stream Bun made when it made one. */
  open(made: ReadableStream<Uint8Array> | number | null | undefined): ReadableStream<Uint8Array>;
  /** Call instead of `open` when spawning failed. */
  discard(): void;
}

/**
 * One output of a child, through a real pipe where there is one.
 * @param owner user and group of a child that may not open what is this process's own
 */
export function childOutput(owner: number | null = null): ChildOutput {
  const pipe = openPipe();
  if (pipe === null) {
    return {
      stdio: "pipe",
      open: (made) => (made instanceof ReadableStream ? made : new ReadableStream({ start: (c) => c.close() })),
      discard() {},
    };
  }
  if (owner !== null) fchownSync(pipe.writeEnd, owner, owner);
  return {
    stdio: pipe.writeEnd,
    open() {
      closeSync(pipe.writeEnd);
      return Bun.file(pipe.readEnd).stream();
    },
    discard() {
      closeSync(pipe.writeEnd);
      closeSync(pipe.readEnd);
    },
  };
}
