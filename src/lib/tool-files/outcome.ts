/** What becomes of a call of a tool. */
import type { Json } from "../../../actors/kernel/json.ts";

export type ToolOutcome =
  | {
      readonly status: "succeeded";
      readonly result: { readonly [key: string]: Json };
    }
  /** It ran, or tried to, and could not: `code` is stable (`not_found`, `no_match`, `timeout`, ...). */
  | {
      readonly status: "failed";
      readonly code: string;
      readonly message: string;
      readonly details?: Json;
    }
  /** Policy forbids it. `error_code` is a number of the 2xxx range, `code` its name. */
  | {
      readonly status: "refused";
      readonly error_code: number;
      readonly code: string;
      readonly violation_type: string;
      readonly message: string;
      readonly attempted: string;
      /** Seconds to wait, for 2005 and 2008. */
      readonly retry_after_seconds?: number;
      readonly details?: { readonly [member: string]: Json };
    };

/** Thrown inside a tool; becomes the `failed` outcome. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
  constructor(
    readonly code: string,
    message: string,
    readonly details?: Json,
  ) {
    super(message);
  }
}

/** Thrown inside a tool; becomes the `refused` outcome. */
export class ToolRefusal extends Error {
  override readonly name = "ToolRefusal";
  constructor(
    readonly errorCode: number,
    readonly code: string,
    readonly violationType: string,
    message: string,
    readonly attempted: string,
  ) {
    super(message);
  }
}

/** What a thrown value means for the loop; bugs are thrown on. */
export function outcomeOf(error: unknown): ToolOutcome {
  if (error instanceof ToolFailure) {
    const { code, message, details } = error;
    return {
      status: "failed",
      code,
      message,
      ...(details === undefined ? {} : { details }),
    };
  }
  if (error instanceof ToolRefusal) {
    const { errorCode: error_code, code, violationType: violation_type, message, attempted } = error;
    return {
      status: "refused",
      error_code,
      code,
      violation_type,
      message,
      attempted,
    };
  }
  throw error;
}
