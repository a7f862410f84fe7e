/** Commands that are run inside an instance from outside, beside its program: what the adapters have in common. */
import type { ExecResult } from "../../programs/bootstrap/exec.ts";
import type { HandOrder } from "../../programs/hand/main.ts";

export type { ExecResult } from "../../programs/bootstrap/exec.ts";

/** A command for an instance that runs. */
export interface InsideCommand {
  /** Command, arguments and bounds, as a dispatch has them. */
  readonly request: HandOrder["request"];
  readonly tenant: string;
  /** The instance's environment, as `InstanceSpec` has it. */
  readonly environment: Readonly<Record<string, string>>;
  /** User and password at the egress proxy; null: no way out. */
  readonly egress: { readonly username: string; readonly password: string } | null;
}

/** Two streams of at most 8 MiB together, each byte of which may be six characters of JSON, and the rest. */
const maxAnswerBytes = 6 * 8 * 1_024 * 1_024 + 65_536;

/** Collects the answer of a hand. */
export class HandAnswer {
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  /** @returns false when it is longer than an answer can be */
  add(piece: Uint8Array): boolean {
    this.#bytes += piece.length;
    if (this.#bytes > maxAnswerBytes) return false;
    this.#pieces.push(piece);
    return true;
  }

  /** Null where it is none: the hand was ended, or is not there. */
  read(): ExecResult | null {
    try {
      const value: unknown = JSON.parse(Buffer.concat(this.#pieces).toString("utf8"));
      return isResult(value) ? value : null;
    } catch {
      return null;
    }
  }
}

/** The agent is the user that the hand runs as: what it may have written instead is no result. */
function isResult(value: unknown): value is ExecResult {
  if (typeof value !== "object" || value === null) return false;
  const { exit_code, duration_ms, timed_out, stdout, stderr, truncated, stdout_bytes, stderr_bytes, signal } =
    value as Readonly<Record<string, unknown>>;
  return (
    [exit_code, duration_ms, stdout_bytes, stderr_bytes].every((one) => typeof one === "number") &&
    [timed_out, truncated].every((one) => typeof one === "boolean") &&
    [stdout, stderr].every((one) => typeof one === "string") &&
    (signal === undefined || typeof signal === "string")
  );
}
