/** Why a store is away, in words for operators: without addresses, users and passwords. */
import { StoreAway } from "./away.ts";

const names: Readonly<Record<string, string>> = {
  ENOTFOUND: "its name is not resolved",
  EAI_AGAIN: "its name is not resolved",
  ECONNREFUSED: "it refuses connections",
  ENOENT: "its socket is missing",
  CONNECT_TIMEOUT: "it does not answer",
  CONNECTION_CONNECT_TIMEOUT: "it does not answer",
  ETIMEDOUT: "it does not answer",
  EHOSTUNREACH: "it cannot be reached",
  ENETUNREACH: "it cannot be reached",
  CONNECTION_CLOSED: "it closes connections",
  CONNECTION_ENDED: "it closes connections",
  CONNECTION_DESTROYED: "it closes connections",
  ECONNRESET: "it closes connections",
  EPIPE: "it closes connections",
  SASL_SIGNATURE_MISMATCH: "it does not prove that it knows the password",
  "57P03": "it is starting or stopping",
  "57P01": "it is stopping",
  "57P02": "it crashed",
};

/** Beginnings of SQLSTATEs, of Redis's error texts and of TLS error codes. */
const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^28/, "it refuses the user or the password"],
  [/^3D/, "it has no such database"],
  [/^25006|^READONLY/, "it is read-only"],
  [/^53100/, "its disk is full"],
  [/^53200/, "it is out of memory"],
  [/^53/, "it has no room for another connection"],
  [/^08/, "it refuses the connection"],
  [/^(NOAUTH|WRONGPASS|NOPERM|ERR (AUTH|invalid password))/, "it refuses the user or the password"],
  [/^LOADING/, "it is loading its data"],
  [/^(CLUSTERDOWN|MASTERDOWN|TRYAGAIN)/, "its cluster is not complete"],
  [/^MISCONF.*No space left/s, "its disk is full"],
  [/^MISCONF/, "it cannot save to its disk"],
  [/^OOM/, "its memory is full"],
  [/^NOREPLICAS/, "it accepts no writes"],
  [/^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/, "TLS fails"],
];

/** @param error what a store, its driver or the way to it answered */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "it fails";
  if (error instanceof StoreAway) return error.reason;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const known = names[code];
  if (known !== undefined) return `${known} (${code})`;
  for (const text of [code, error.message]) {
    const found = beginnings.find(([pattern]) => pattern.test(text));
    if (found !== undefined) return `${found[1]} (${/^[A-Z0-9_]*/.exec(text)?.[0]})`;
  }
  // Bun tells no code of a certificate for another name.
  if (/altnames/.test(error.message)) return "TLS fails (ERR_TLS_CERT_ALTNAME_INVALID)";
  return /timed? ?out|timeout/i.test(error.message) ? "it does not answer" : `it fails (${code || error.name})`;
}
