/** A caller who is known and may not call: the refusal tells the audit log who it was. */
import type { Identity } from "../../actors/identity/identity.ts";
import { Problem, type ProblemCode } from "../../actors/kernel/problem.ts";

export class RefusedCaller extends Problem {
  constructor(
    readonly identity: Identity,
    code: ProblemCode,
    message: string,
  ) {
    super(code, message);
  }

  /** Hands a refusal of the caller on with who it was; anything else as it is. */
  static from(error: unknown, identity: Identity): unknown {
    return error instanceof Problem && error.status === 403
      ? new RefusedCaller(identity, error.code, error.message)
      : error;
  }
}
