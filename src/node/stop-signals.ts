/** The signals that ask a node to stop. */
import { readFileSync } from "node:fs";

/**
 * Signals within this time of the first are the same wish, ms: a terminal's Ctrl-C reaches npm and the node, and npm hands
 * its own on to the node.
 */
const sameWishMs = 2_000;

export interface Stopping {
  /** Ends the work; the process exits once it resolves. */
  stop(): Promise<void>;
  /** One line for the person who asked. */
  say(line: string): void;
  exit(code: number): void;
  /** Milliseconds that only go on. */
  now(): number;
}

/**
 * What a signal does: the first one stops the node and ends the process with 0, a later one ends it at once with 130.
 * @returns called for each signal
 */
export function stopHandler({ stop, say, exit, now }: Stopping): () => void {
  let askedAt: number | null = null;
  return () => {
    if (askedAt !== null) {
      if (now() - askedAt >= sameWishMs) exit(130);
      return;
    }
    askedAt = now();
    say("stopping …");
    void stop().then(
      () => exit(0),
      () => exit(1),
    );
  };
}

/** Has this process stop as `stopping` says when it is asked to: by its supervisor, by Ctrl-C, by the end of its terminal. */
export function handleStopSignals(stopping: Stopping): void {
  const handle = stopHandler(stopping);
  process.on("SIGTERM", handle);
  process.on("SIGINT", handle);
  // An operator who starts it with `nohup` wants it to outlive the terminal.
  if (!isIgnored(1)) process.on("SIGHUP", handle);
}

/** Whether this process was started with the signal ignored; false where the system does not say. */
function isIgnored(signal: number): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
    return (BigInt(`0x${mask}`) & (1n << BigInt(signal - 1))) !== 0n;
  } catch {
    return false;
  }
}
