/** Security tokens: what an attestation hands out, and what every envelope carries. */
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from "jose";
import type { SigningKeys } from "../encryption/port.ts";

const tokenAudience = "svc-agents";

export interface SecurityClaims {
  readonly agentId: string;
  readonly executionId: string;
  readonly tenant: string;
  readonly securityContext: string;
  /** What the token was given to: the sandbox, else the execution. */
  readonly workload: string;
  readonly sessionId: string;
  /** Unix seconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly taskSummary: string | null;
}

export interface SecurityTokens {
  mint(claims: SecurityClaims): Promise<string>;
  /** The session that a token names, or what is wrong with it. */
  verify(token: string): Promise<VerifiedToken | "invalid_token" | "token_expired">;
}

export interface VerifiedToken {
  readonly sessionId: string;
  readonly tenant: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** @param databaseNow Unix ms by PostgreSQL's clock @param issuer SVC_SEAL_ISSUER */
export function createSecurityTokens(
  keys: Pick<SigningKeys, "current" | "find">,
  databaseNow: () => number,
  issuer: string,
): SecurityTokens {
  return {
    async mint(claims) {
      const { kid, key } = await keys.current();
      return new SignJWT({
        exec_id: claims.executionId,
        tenant_id: claims.tenant,
        scp: claims.securityContext,
        security_context: claims.securityContext,
        wid: claims.workload,
        ...(claims.taskSummary === null ? {} : { task_summary: claims.taskSummary }),
      })
        .setProtectedHeader({ typ: "JWT", alg: "EdDSA", kid })
        .setIssuer(issuer)
        .setAudience(tokenAudience)
        .setSubject(claims.agentId)
        .setJti(claims.sessionId)
        .setIssuedAt(claims.issuedAt)
        .setExpirationTime(claims.expiresAt)
        .sign(key);
    },
    async verify(token) {
      const kid = kidOf(token);
      const key = kid === null ? null : await keys.find(kid);
      if (key === null) return "invalid_token";
      const options = { algorithms: ["EdDSA"], audience: tokenAudience, issuer, currentDate: new Date(databaseNow()) };
      try {
        const { jti, tenant_id, exp } = (await jwtVerify(token, key, options)).payload;
        const isWhole = typeof jti === "string" && typeof tenant_id === "string" && typeof exp === "number";
        return isWhole ? { sessionId: jti, tenant: tenant_id, expiresAt: exp } : "invalid_token";
      } catch (error) {
        return error instanceof errors.JWTExpired ? "token_expired" : "invalid_token";
      }
    },
  };
}

function kidOf(token: string): string | null {
  try {
    return decodeProtectedHeader(token).kid ?? null;
  } catch {
    return null;
  }
}
