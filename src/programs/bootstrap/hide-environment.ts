/** Keeping the bootstrap's own environment from the commands it runs, which are the same user's. */

/** `PR_SET_DUMPABLE` of prctl(2). */
const setDumpable = 4;
/** By the names that glibc and musl give it. */
const libraries = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/**
 * Makes `/proc/<pid>/environ`, the memory and the descriptors of this process unreadable to other processes of its
 * user: the execution token is there. Programs it starts are as readable as ever.
 * @returns false where it cannot be done
 */
export async function hideEnvironment(): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const { dlopen } = await import("bun:ffi");
  for (const library of libraries) {
    try {
      const { symbols } = dlopen(library, { prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" } });
      return symbols.prctl(setDumpable, 0, 0, 0, 0) === 0;
    } catch {
      // Not this C library.
    }
  }
  return false;
}
