/** Execution tokens as those who mint, carry and check them see them. */
import { Problem } from "../../../actors/kernel/problem.ts";

/** Whom a token speaks for, and until when. */
export interface ExecutionClaims {
  readonly executionId: string;
  readonly agentId: string;
  readonly tenant: string;
  readonly instanceId: string;
  /** From its making to its end. What it is good for meanwhile is decided by what the execution is at. */
  readonly livesSeconds: number;
}

/** Whom a message speaks for. */
export interface ExecutionIdentity {
  readonly executionId: string;
  readonly tenant: string;
  readonly instanceId: string;
}

export interface ExecutionTokens {
  mint(claims: ExecutionClaims): Promise<string>;
  /** @throws Problem 401 `invalid_token` for every fault of it */
  verify(token: string): Promise<ExecutionIdentity>;
}

/** The user that the egress proxy expects; the password is a token. */
export const egressUser = "svc";

export const invalidToken = (): Problem => new Problem("invalid_token", "The execution token is not valid");
