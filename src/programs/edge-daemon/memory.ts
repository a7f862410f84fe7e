/**
 * Gives back memory that only the start needed. A start touches much of the program's code once; those pages of the file
 * stay counted as the daemon's until something else wants the memory. The kernel is told that they are not needed: what
 * is used again comes back from the file.
 */
import { dlopen } from "bun:ffi";
import { readFileSync } from "node:fs";

const dontNeed = 4;
const libraries = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/** Soon after the start, a heartbeat or a command, ms. */
const soonMs = 3_000;

/** Gives memory back soon after the start, and each time that `give` was called. */
export function keepSmall(): { readonly give: () => void; readonly stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const give = () => {
    timer ??= setTimeout(() => {
      timer = null;
      giveBackMemory();
    }, soonMs);
  };
  give();
  return {
    give,
    stop: () => {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Does nothing where the system is not Linux, or does not tell. */
function giveBackMemory(): void {
  Bun.gc(true);
  if (process.platform !== "linux") return;
  try {
    const madvise = openMadvise();
    for (const { from, length } of codeOfProgram(readFileSync("/proc/self/maps", "utf8"))) {
      madvise?.(from, length, dontNeed);
    }
  } catch {
    // It is only memory.
  }
}

/** Where the code of the program itself lies: pages that nothing ever writes, so that the file has all of them. */
function codeOfProgram(maps: string): { readonly from: bigint; readonly length: bigint }[] {
  return maps.split("\n").flatMap((line) => {
    const [, from, to, path] = /^([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ \S+ +(\/.*)$/.exec(line) ?? [];
    if (from === undefined || to === undefined || path !== process.execPath) return [];
    const start = BigInt(`0x${from}`);
    return [{ from: start, length: BigInt(`0x${to}`) - start }];
  });
}

function openMadvise(): ((from: bigint, length: bigint, advice: number) => number) | null {
  for (const library of libraries) {
    try {
      return dlopen(library, { madvise: { args: ["u64", "u64", "i32"], returns: "i32" } }).symbols.madvise;
    } catch {
      // The other C library, then.
    }
  }
  return null;
}
