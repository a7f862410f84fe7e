/** Results of commands, as they are journaled and sent. */
import { frameLimits, type Result, type ResultStatus } from "../../../../actors/edge/frames.ts";
import type { Json } from "../../../../actors/kernel/json.ts";

/** A command that had no process, or of which nothing is known. */
const nothing = {
  exit_code: null,
  duration_ms: null,
  started_at: null,
  stdout_tail: "",
  stderr_tail: "",
  stdout_bytes: 0,
  stderr_bytes: 0,
  truncated: false,
  structured: null,
} as const;

const maxMessage = 2_000;

/** @param kind of the error; null: there is none */
export function resultOf(
  command_id: string,
  status: ResultStatus,
  kind: string | null,
  message: string | null,
  more: Partial<Omit<Result, "command_id" | "status" | "error_kind" | "error_message">> = {},
): Result {
  const error_message = message === null ? null : message.slice(0, maxMessage).toWellFormed();
  const structured = wellFormed(more.structured ?? null);
  return { ...nothing, ...more, structured, command_id, status, error_kind: kind, error_message };
}

/** Text that was cut within a character is none that a frame may hold. */
function wellFormed(value: Json): Json {
  return /\\ud[89a-f]/i.test(JSON.stringify(value)) ? mended(value) : value;
}

function mended(value: Json): Json {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(mended);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), mended(member ?? null)]),
  );
}

/** How a process ended, before it is told. */
export interface Outcome {
  readonly status: ResultStatus;
  readonly kind: string | null;
  readonly message: string | null;
  readonly exitCode: number | null;
  readonly structured: Json;
  readonly output: Pick<Result, "stdout_tail" | "stderr_tail" | "stdout_bytes" | "stderr_bytes" | "truncated">;
}

export const noOutput: Outcome["output"] = {
  stdout_tail: "",
  stderr_tail: "",
  stdout_bytes: 0,
  stderr_bytes: 0,
  truncated: false,
};

export const jsonBytes = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

/** An outcome whose structured part fits its frame. */
export function fitting(outcome: Outcome): Outcome {
  if (jsonBytes(outcome.structured) <= frameLimits.maxStructuredBytes) return outcome;
  const message = `The result is larger than ${frameLimits.maxStructuredBytes} bytes`;
  return { ...outcome, status: "err", kind: "output_too_large", message, structured: null };
}

/** Why a command is stopped from outside. */
export interface Stop {
  readonly status: "cancelled" | "timed_out";
  readonly kind: string;
  readonly message: string;
}

/** A process that waits for its release. */
export interface Prepared {
  readonly pid: number;
  /** Lets it start. */
  readonly release: () => void;
  /** It never starts. */
  readonly abandon: () => void;
  /** Asks it to end. */
  readonly terminate: () => void;
  /** Ends it and all that it started. */
  readonly kill: () => void;
  readonly hasProcesses: () => boolean;
  readonly exited: Promise<number>;
  /** Resolves when it has ended and all of its output is read. @param stopped why it was stopped, once it has ended */
  readonly outcome: (stopped: () => Stop | null) => Promise<Outcome>;
  readonly timeoutMs: number;
}

/** Why a command cannot be prepared. */
export interface Unprepared {
  readonly status: "refused" | "err";
  readonly kind: string;
  readonly message: string;
}
