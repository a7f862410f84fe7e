/**
 * The port to tools: everything an agent's loop may call that is not a dispatch to its own sandbox.
 *
 * A provider offers a family of tools (`fs.*` here; tool servers, web and management tools later).
 * Outcomes are values, because every one of them becomes a tool message for the model: a failure is
 * something to read and react to, a refusal is something not to try again.
 */
import type { Json } from "../../../actors/kernel/json.ts";

export interface ToolDescriptor {
  /** Dotted, as manifests and policies spell it: `fs.read`. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** JSON Schema of the arguments object. */
  readonly inputSchema: Record<string, unknown>;
}

export interface ToolRequest {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly tenant: string;
  readonly executionId: string;
  /** The same on every attempt. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

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
    };

export interface ToolProvider {
  tools(): readonly ToolDescriptor[];
  /** Never rejects for what the caller or the model did wrong; rejects when aborted. */
  call(request: ToolRequest): Promise<ToolOutcome>;
}

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
