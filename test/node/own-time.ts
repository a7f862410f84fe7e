/** A clock that stands still while the machine has no processor for this process's main thread. */
import { readFileSync } from "node:fs";

/** Time on a processor, time in wait of one, both ns, as the kernel counts them. */
const schedule = `/proc/self/task/${process.pid}/schedstat`;

/** Nanoseconds that the main thread could have run and had no processor; 0 where the kernel does not tell. */
function waited(): number {
  try {
    return Number(readFileSync(schedule, "latin1").split(" ")[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Milliseconds: differences of two readings hold all but the wait for a processor, so also what blocks the thread. */
export const ownTime = (): number => performance.now() - waited() / 1e6;
