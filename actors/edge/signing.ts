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

/** `up`: from a daemon to the service. */
export type Direction = "up" | "down";

/** What the frames of one connection have in common: a frame of another connection or host fits none of this one's. */
export interface Connection {
  readonly hostId: string;
  /** Base64 of 32 bytes, from the challenge. */
  readonly serverNonce: string;
  /** Base64 of 32 bytes, from the hello. */
  readonly clientNonce: string;
}

/** @param s the frame's number in its direction, from 1 @param bodyDigest of the text `b`, as it was received */
export const frameMessage = (
  direction: Direction,
  { hostId, serverNonce, clientNonce }: Connection,
  t: string,
  s: number,
  bodyDigest: string,
): string => lines("svc-edge-frame/1", direction, hostId, serverNonce, clientNonce, t, String(s), bodyDigest);

/** @param bodyDigest of the text `b` of a release file */
export const releaseMessage = (bodyDigest: string): string => lines("svc-edge-release/1", bodyDigest);
