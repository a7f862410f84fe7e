/** Refusals in the words of the protocol: errors of JSON-RPC with the service's own code beside them. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Identity } from "../../../actors/identity/identity.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { asProblem } from "../../http/problem.ts";

/** Of JSON-RPC's range for servers: the service cannot do it now. */
const unavailable = -32010;

/** @throws Problem 403 `insufficient_scope` */
export function requireScope({ scopes }: Identity, scope: string): void {
  if (scopes.has(scope)) return;
  throw new Problem("insufficient_scope", `This needs the scope ${scope}`, { required: scope });
}

/** Runs work whose refusals are to be told. @throws ProtocolError with `data.code`; what is a bug as it came */
export async function telling<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const problem = asProblem(error);
    if (problem === null) throw error;
    throw new ProtocolError(codeOf(problem), problem.message, { ...problem.extras, code: problem.code });
  }
}

function codeOf({ status }: Problem): number {
  if (status === 503 || status === 504 || status === 429) return unavailable;
  if (status >= 500) return ProtocolErrorCode.InternalError;
  return status === 403 ? ProtocolErrorCode.InvalidRequest : ProtocolErrorCode.InvalidParams;
}
