/** A container's first process inherits every orphan, and has to ask for its end or it stays in the process table. */
import { dlopen, ptr } from "bun:ffi";

const everyChild = 0;
const noHang = 1;
const exited = 4;
const leaveIt = 0x0100_0000;
/** `si_pid` in a 64-bit `siginfo_t`. */
const pidAt = 16;

type Collect = (own: number) => void;
let collect: Collect | undefined;

/** @param own the child whose end the caller awaits itself */
export function reapOrphans(own: number): void {
  collect ??= load();
  collect(own);
}

function load(): Collect {
  for (const library of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      const { symbols } = dlopen(library, {
        waitid: { args: ["i32", "u32", "ptr", "i32"], returns: "i32" },
        waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
      });
      return (own) => {
        const info = new Uint8Array(128);
        for (let left = 1_000; left > 0; left -= 1) {
          info.fill(0);
          if (symbols.waitid(everyChild, 0, ptr(info), noHang | exited | leaveIt) !== 0) return;
          const pid = new DataView(info.buffer).getInt32(pidAt, true);
          if (pid === 0 || pid === own) return;
          symbols.waitpid(pid, null, noHang);
        }
      };
    } catch {
      // Not this C library.
    }
  }
  return () => {};
}
