/**
 * What signatures between daemons and the service are over: lines of text joined by one LF, without one at the end.
 * Keys and nonces are in them as their base64 text, digests as SHA-256 in lower-case hex.
 */

const lines = (...all: readonly string[]): string => all.join("\n");

/** @param tokenDigest of the token's text */
export const enrollmentMessage = (publicKey: string, tokenDigest: string): string =>
  lines("svc-edge-enroll/1", publicKey, tokenDigest);

/** Signed by both keys. @param issuedAt Unix seconds */
export const rotationMessage = (hostId: string, newPublicKey: string, issuedAt: number): string =>
  lines("svc-edge-rotate/1", hostId, newPublicKey, String(issuedAt));
