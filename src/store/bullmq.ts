/**
 * BullMQ, with a clock that it can be told to go by. It reads its machine's: a node whose machine is ahead takes delayed
 * jobs up too early, one that is behind too late, and the two plan the moments of a scheduler in different ways, so that
 * some are never planned. It has no option for that; so the calls of `Date.now()` are replaced while it is loaded.
 *
 * Import its values only from here; its types may come from the package.
 */

import type * as bullmqTypes from "bullmq";
import { plugin } from "bun";

/** Under this name of `globalThis` the replaced calls find the clock. */
const clockName = "svc.queue-clock";
const clockSymbol = Symbol.for(clockName);

/** The clock of all queues of this process, Unix ms; the machine's until `queuesGoBy` was called. */
const clock: { now: () => number } = { now: Date.now };
Object.defineProperty(globalThis, clockSymbol, { value: () => clock.now(), configurable: true });

/** What the queues take for the time now, Unix ms. */
export const queueNow = (): number => clock.now();

/** Has all queues of this process go by a clock. Nodes of one process have the same database. @param now Unix ms */
export function queuesGoBy(now: () => number): void {
  clock.now = now;
}

/** Files with calls that decide when a job runs; each must have been replaced. */
const expected = ["job.js", "job-scheduler.js", "lock-manager.js", "queue.js", "redis-queue-backend.js", "worker.js"];
const mended = new Set<string>();

plugin({
  name: "bullmq-clock",
  setup(build) {
    const filter = /[\\/]node_modules[\\/]bullmq[\\/]dist[\\/]esm[\\/]classes[\\/][\w-]+\.js$/;
    build.onLoad({ filter }, async ({ path }) => {
      const text = await Bun.file(path).text();
      const contents = text.replaceAll(/\bDate\.now\(\)|\bnew Date\(\)\.getTime\(\)/g, () => {
        mended.add(path.replace(/^.*[\\/]/, ""));
        return `globalThis[Symbol.for("${clockName}")]()`;
      });
      return { contents, loader: "js" };
    });
  },
});

// Not a static import: those are loaded before anything here runs. And not the entry for `require`: Bun asks plugins for
// only some of the files that are loaded so.
const bullmq: typeof bullmqTypes = await import("bullmq/dist/esm/index.js");
const missing = expected.filter((name) => !mended.has(name));
if (missing.length > 0) throw new Error(`BullMQ has changed or was loaded before its clock: ${missing.join(", ")}`);

export const { DelayedError, Queue, QueueEvents, Worker } = bullmq;
