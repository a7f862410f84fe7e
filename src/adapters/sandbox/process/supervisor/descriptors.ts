/**
 * The descriptors of processes, by system calls that the runtime has no functions for.
 *
 * Threads may have descriptors of their own (`unshare(CLONE_FILES)`), which only `/proc/<thread>/fd` shows. And every
 * program can hide what it has open, by `PR_SET_DUMPABLE` or by being run from a file that may not be read:
 * `/proc/<pid>/fd` is closed then to a service that is no root. Its instances live in user namespaces of its own,
 * though, so the kernel hands out copies of the descriptors themselves.
 */
import { closeSync, fstatSync, readFileSync, type Stats } from "node:fs";
import { threadsOf } from "../../../../lib/processes/process-table.ts";

/** Numbers of Linux's system calls: the last two are the same on x86-64 and aarch64. */
const numbers = { kcmp: process.arch === "arm64" ? 272 : 312, pidfdOpen: 434, pidfdGetfd: 438 } as const;
/** Of kcmp(2): whether two threads have their descriptors in common. */
const sameDescriptors = 2;
/** `PIDFD_THREAD` of pidfd_open(2), since Linux 6.9; before, only a process could be named, by its first thread. */
const anyThread = 0x80;
/** By the names that glibc and musl give it. */
const libraries = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

type SystemCall = (call: number, first: number, second: number, third: number) => number;
let systemCall: Promise<SystemCall | null> | undefined;

async function findSystemCall(): Promise<SystemCall | null> {
  const { dlopen } = await import("bun:ffi");
  for (const library of libraries) {
    try {
      const { symbols } = dlopen(library, { syscall: { args: ["i64", "i64", "i64", "i64"], returns: "i32" } });
      return (call, first, second, third) => symbols.syscall(call, first, second, third);
    } catch {
      // Not this C library.
    }
  }
  return null;
}

function systemCalls(): Promise<SystemCall | null> {
  systemCall ??= findSystemCall();
  return systemCall;
}

/**
 * @param pid a process, by a thread of it that lives
 * @returns threads whose descriptors are all that the process has; more than needed where the kernel does not compare
 */
export async function descriptorTables(pid: number): Promise<number[]> {
  const threads = threadsOf(pid);
  if (threads.length < 2) return [pid];
  const call = await systemCalls();
  const others = threads.filter((each) => each !== pid && call?.(numbers.kcmp, pid, each, sameDescriptors) !== 0);
  return [pid, ...others];
}

/** @returns what lies behind each descriptor of a thread; nothing where it is gone or the kernel refuses */
export async function descriptorsOf(thread: number): Promise<Stats[]> {
  const call = await systemCalls();
  if (call === null) return [];
  let owner = call(numbers.pidfdOpen, thread, anyThread, 0);
  if (owner < 0) owner = call(numbers.pidfdOpen, thread, 0, 0);
  if (owner < 0) return [];
  const found: Stats[] = [];
  const slots = slotsOf(thread);
  for (let number = 0; number < slots; number += 1) {
    const copy = call(numbers.pidfdGetfd, owner, number, 0);
    if (copy < 0) continue;
    found.push(fstatSync(copy));
    closeSync(copy);
  }
  closeSync(owner);
  return found;
}

/** How many descriptors there is room for at the moment. */
function slotsOf(thread: number): number {
  try {
    return Number(/^FDSize:\s*(\d+)$/m.exec(readFileSync(`/proc/${thread}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
