/** What a command came to, as its state sees it. */
import { storableText, utf8Tail } from "../../../../../actors/kernel/text.ts";
import type { CommandEnd } from "../../../../../actors/workflow/run/activities.ts";
import { nothingRan } from "../../../../../actors/workflow/run/kinds/commands/command-result.ts";
import { commandOutputBytes, type InstanceExit } from "../../../../adapters/sandbox/port.ts";

/** An attempt that came to nothing for a reason that lies outside the command: worth another one. */
export interface Fault {
  /** A code: `interrupted`, `image_pull_failed`, … */
  readonly fault: string;
  /** One sentence for people; empty where the code says it all. */
  readonly message: string;
}

export interface Ended {
  readonly exit: InstanceExit;
  readonly durationMs: number;
  readonly timedOut: boolean;
  /** A volume grew beyond its limit. */
  readonly isFull: boolean;
}

type Ran = Omit<CommandEnd, "attempts" | "warnings">;

export const isFault = (end: Ran | Fault): end is Fault => "fault" in end;

/** It never ran, or nothing is left of it. */
export const nothingOf = (error: string): Ran => ({ ...nothingRan, error });

/** What stores refuse is replaced, which takes room. */
const shownText = (text: string) => utf8Tail(Buffer.from(storableText(text)), commandOutputBytes);

/** @returns a fault when its end cannot be told: it was lost, or ended from outside */
export function resultOf({ exit, durationMs, timedOut, isFull }: Ended): Ran | Fault {
  const { reason, exitCode } = exit;
  const shown = {
    stdout: shownText(exit.stdout),
    stderr: shownText(exit.stderr),
    duration_ms: Math.max(0, Math.round(durationMs)),
    truncated: exit.stdoutTruncated || exit.stderrTruncated,
  };
  if (reason === "exited" && exitCode !== null) {
    const status = exitCode === 0 ? "success" : "failed";
    return { ...shown, status, exit_code: exitCode, timed_out: false, error: null };
  }
  if (isFull || reason === "disk_exceeded" || reason === "out_of_memory") {
    const error = reason === "out_of_memory" ? reason : "disk_exceeded";
    return { ...shown, status: "failed", exit_code: exitCode, timed_out: false, error };
  }
  if (!timedOut) return { fault: "interrupted", message: "" };
  return { ...shown, status: "failed", exit_code: -1, timed_out: true, error: "timed_out" };
}
