/**
 * What a client carries from a question back to the call that asks it: encrypted with a key that all nodes have, and bound
 * to the caller, the tool and its arguments, so that it is worth nothing to another caller and for another call.
 */
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { sha256Hex } from "../../lib/digest.ts";
import type { Encryption } from "../encryption/port.ts";
import type { FaceCaller } from "./caller.ts";

/** What is carried. */
export interface Carried {
  readonly invocationId: string;
  readonly approvalId: string;
  /** Digest of the arguments that the question shows: the person's approval is for no other ones. */
  readonly seen: string;
  /** The key of the call: what it started is known by it. */
  readonly key: string;
  /** Of this very question: the same answer sent twice is one decision. */
  readonly questionId: string;
}

/** The call that it is bound to, as the client makes it. */
export interface BoundCall {
  readonly caller: Pick<FaceCaller, "identity" | "tenant">;
  readonly tool: string;
  readonly given: { readonly [member: string]: Json };
}

export interface RequestStates {
  seal(call: BoundCall, carried: Carried): string;
  /** Null for what was altered, is of another caller or another call, or is older than 10 minutes. */
  open(call: BoundCall, text: string): Carried | null;
}

const livesMs = 10 * 60_000;
/** More than any that was made here. */
const maxLength = 4_096;

export function requestStates(
  encryption: Pick<Encryption, "encrypt" | "decryptForeign">,
  now: () => number,
): RequestStates {
  return {
    seal: (call, carried) =>
      encryption.encrypt(contextOf(call), JSON.stringify({ ...carried, until: now() + livesMs })),
    open(call, text) {
      const plain = text.length > maxLength ? null : encryption.decryptForeign(contextOf(call), text);
      if (plain === null) return null;
      // Only this service writes what can be decrypted.
      const { until, ...carried } = JSON.parse(plain) as Carried & { readonly until: number };
      return now() < until ? carried : null;
    },
  };
}

const contextOf = ({ caller: { identity, tenant }, tool, given }: BoundCall) => ({
  tenant,
  record: JSON.stringify(["mcp request", identity.realm, identity.userId]),
  version: sha256Hex(JSON.stringify([tool, sorted(given)])),
});

/** The same for the same content in another order: a client may write its request anew. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each)]));
}
