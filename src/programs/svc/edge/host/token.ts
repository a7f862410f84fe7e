/** An enrollment token as the host reads it: whom it names, and whether the service that answered is that one. */
import { Value } from "@sinclair/typebox/value";
import { readEdgeKey } from "../../../../../actors/edge/base64.ts";
import { EnrollmentClaims } from "../../../../../actors/edge/enrollment.ts";
import { sha256Hex } from "../../../../lib/digest.ts";
import { ed25519Key, isSigned } from "../../../../lib/ed25519.ts";
import { Failure, usageFailure } from "../command/exit.ts";

export interface ReadToken {
  readonly text: string;
  /** Not believed before `requireService` has held. */
  readonly claims: EnrollmentClaims;
}

const maxChars = 4096;

/** The token's text, or the code that is shown beside it. @throws Failure `usage` for what is no token */
export function readToken(written: string): ReadToken {
  const text = written.trim().replace(/^svc-edge-enroll:\/\//, "");
  const [head, payload, signature, more] = text.split(".");
  if (text.length <= maxChars && head && payload && signature && more === undefined) {
    try {
      const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
      if (Value.Check(EnrollmentClaims, claims)) return { text, claims };
    } catch {}
  }
  throw usageFailure("this is no enrollment token");
}

/**
 * Holds the answer of a service against the token: one of its keys is the one that the token names, and has signed it.
 * A service in between that has another key is found out here, before anything is stored.
 *
 * @throws Failure `authentication`
 */
export function requireService(
  { text, claims }: ReadToken,
  keys: readonly { readonly kid: string; readonly public_key: string }[],
): void {
  const named = keys.find(({ public_key }) => {
    const raw = readEdgeKey(public_key) === null ? null : Buffer.from(public_key, "base64");
    return raw !== null && sha256Hex(raw) === claims.skt;
  });
  const key = named === undefined ? null : readEdgeKey(named.public_key);
  if (key === null) throw strange("none of the service's keys is the one that the token names");
  const end = text.lastIndexOf(".");
  const signature = Buffer.from(text.slice(end + 1), "base64url");
  if (!isSigned(ed25519Key(key), [text.slice(0, end)], signature))
    throw strange("the token is not signed by the key that it names");
}

const strange = (message: string): Failure =>
  new Failure("authentication", `${message}: nothing is stored`, "service_not_trusted");
