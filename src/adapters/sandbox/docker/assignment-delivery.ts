/**
 * Giving a keeper its assignment, once: by the fifo it waits at. The holder of the claim writes; one whose process
 * died in the middle leaves a broken line, which the keeper skips.
 */
import { closeSync, constants, existsSync, linkSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../../../lib/files/json-file.ts";
import { identify, isAlive, type ProcessIdentity } from "../../../lib/processes/process-table.ts";
import { assignName } from "./keeper/protocol.ts";
import { isAssigned, readVerdict } from "./paths.ts";

/** A keeper that does not come to the fifo within this never will. */
const arriveMs = 30_000;
const pollMs = 3;

/** Does the work as the only process of this host; false when another process has done it. */
export async function withClaim(directory: string, work: () => Promise<void>): Promise<boolean> {
  while (!isAssigned(directory) && existsSync(directory)) {
    const held = takeClaim(directory);
    if (held) {
      try {
        if (isAssigned(directory)) return false;
        await work();
        return true;
      } finally {
        rmSync(join(directory, "claim"), { force: true });
      }
    }
    if (!(await isClaimed(directory))) rmSync(join(directory, "claim"), { force: true });
    await Bun.sleep(pollMs * 2);
  }
  return false;
}

/** Waits, at most `limitMs`, until no process is at work on the instance's launch. */
export async function untilUnclaimed(directory: string, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  while ((await isClaimed(directory)) && performance.now() < until) await Bun.sleep(pollMs);
}

/** False for the claim of a process that died, too. */
async function isClaimed(directory: string): Promise<boolean> {
  const holder = await readJson<ProcessIdentity>(join(directory, "claim"));
  return holder !== null && isAlive(holder);
}

function takeClaim(directory: string): boolean {
  const draft = join(directory, `.claim-${crypto.randomUUID()}`);
  try {
    writeFileSync(draft, JSON.stringify(identify(process.pid)), { mode: 0o600 });
    // Complete or not there at all, so that a holder can always be told.
    linkSync(draft, join(directory, "claim"));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * @param text   the assignment as one line of JSON
 * @param ended  asked while waiting; true once the container can take nothing any more
 * @returns false when the keeper did not take it
 */
export async function deliverAssignment(
  directory: string,
  text: string,
  ended: () => Promise<boolean>,
): Promise<boolean> {
  const began = performance.now();
  let nextLook = began + 100;
  for (;;) {
    const fifo = openForWriting(join(directory, "control", assignName));
    if (fifo !== null) {
      writeFileSync(join(directory, "delivering"), "", { mode: 0o600 });
      try {
        if (!(await writeAll(fifo, Buffer.from(`\n${text}\n`)))) {
          rmSync(join(directory, "delivering"), { force: true });
          return false;
        }
      } finally {
        closeSync(fifo);
      }
      markAssigned(directory);
      return true;
    }
    const now = performance.now();
    if (readVerdict(directory) !== null || now - began > arriveMs) return false;
    if (now > nextLook) {
      if (await ended()) return false;
      nextLook = performance.now() + 250;
    }
    await Bun.sleep(pollMs);
  }
}

const markAssigned = (directory: string) => writeFileSync(join(directory, "assigned"), "", { mode: 0o600 });

/**
 * Settles what a launch left that was cut off in the middle of handing over: a keeper that waits no more has begun,
 * and nothing is begun twice.
 */
export function settleDelivery(directory: string): boolean {
  if (!existsSync(join(directory, "delivering")) || isAwaiting(directory)) return false;
  markAssigned(directory);
  return true;
}

/** True once a keeper waits there. */
export function isAwaiting(directory: string): boolean {
  const fifo = openForWriting(join(directory, "control", assignName));
  if (fifo !== null) closeSync(fifo);
  return fifo !== null;
}

/** Null as long as the fifo has no reader. */
function openForWriting(path: string): number | null {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENXIO") return null;
    throw error;
  }
}

/** False when the reader went away, or takes nothing. */
async function writeAll(fifo: number, bytes: Uint8Array): Promise<boolean> {
  let last = performance.now();
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fifo, bytes, at);
      last = performance.now();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : "";
      if (code !== "EAGAIN" || performance.now() - last > arriveMs) return false;
      await Bun.sleep(1);
    }
  }
  return true;
}
