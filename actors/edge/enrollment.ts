/** Enrollment tokens: what one says, and when it holds. */
import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../kernel/schema.ts";

export const enrollmentAudience = "edge-enrollment";
export const enrollmentIssuer = "svc-edge";
export const maxTtlSeconds = 900;

/** Members of the token's payload. Times are Unix seconds. */
export const EnrollmentClaims = Type.Object({
  // A pattern: formats are known to the service's process only, and hosts read tokens as well.
  jti: Type.String({ pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" }),
  tid: Text,
  sub: Text,
  name: Type.Optional(Text),
  aud: Type.Literal(enrollmentAudience),
  iss: Type.Literal(enrollmentIssuer),
  nbf: Type.Integer(),
  exp: Type.Integer(),
  /** Host and port of the service. */
  cep: Text,
  url: Text,
  /** SHA-256 of the service's public key, in lower-case hex. */
  skt: Text,
});
export type EnrollmentClaims = Static<typeof EnrollmentClaims>;

/** What is stored of a token. */
export interface TokenFacts {
  /** Unix milliseconds. */
  readonly expiresAt: number;
  readonly isRevoked: boolean;
  /** The key that redeemed it, in base64; null: none has yet. */
  readonly redeemedBy: string | null;
}

export type Redemption = "first" | "again" | "enrollment_token_expired" | "enrollment_token_revoked" | "token_redeemed";

/** What a rightly signed token is to a key at a moment. @param now Unix milliseconds */
export function redemption({ expiresAt, isRevoked, redeemedBy }: TokenFacts, key: string, now: number): Redemption {
  if (isRevoked) return "enrollment_token_revoked";
  if (now >= expiresAt) return "enrollment_token_expired";
  if (redeemedBy === null) return "first";
  return redeemedBy === key ? "again" : "token_redeemed";
}

export type TokenStatus = "outstanding" | "redeemed" | "expired" | "revoked";

/** @param now Unix milliseconds */
export function tokenStatus({ expiresAt, isRevoked, redeemedBy }: TokenFacts, now: number): TokenStatus {
  if (redeemedBy !== null) return "redeemed";
  if (isRevoked) return "revoked";
  return now >= expiresAt ? "expired" : "outstanding";
}

/** How far `issued_at` of a rotation may be from now, either way, s. */
export const rotationWindowSeconds = 300;

/** A host that is given no name has the end of its id for one. */
export const nameOf = (hostId: string, ...given: readonly (string | null | undefined)[]): string =>
  given.find((name) => name !== null && name !== undefined) ?? `edge-${hostId.slice(-8)}`;
