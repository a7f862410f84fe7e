/** Execution tokens: by them a sandbox instance says which execution it works for. One per instance. */
import { decodeProtectedHeader, jwtVerify, SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import { type ExecutionIdentity, type ExecutionTokens, invalidToken } from "./claims.ts";
import type { GatewayKeys } from "./keys.ts";

/** Where a token counts: at the dispatch gateway, or as the password at the egress proxy. One is no good for the other. */
export type TokenAudience = "svc-internal" | "svc-egress";

const issuer = "svc";

/** Tokens that are remembered with what they say; of an execution under way one is shown again and again. */
const capacity = 4096;

/**
 * @param now PostgreSQL's time, Unix ms; what it throws where that is not known, `mint` and `verify` throw as well
 */
export function createExecutionTokens(
  keys: GatewayKeys,
  now: () => number,
  audience: TokenAudience = "svc-internal",
): ExecutionTokens {
  /** Found good, or signed here. */
  const known = new LRUCache<string, { readonly identity: ExecutionIdentity; readonly expiresAt: number }>({
    max: capacity,
  });
  const remember = (token: string, identity: ExecutionIdentity, expiresAt: number): void => {
    known.set(token, { identity, expiresAt });
  };
  return {
    mint: async ({ executionId, agentId, tenant, instanceId, livesSeconds }) => {
      const { kid, key } = await keys.current();
      const issuedAt = Math.floor(now() / 1000);
      const expiresAt = issuedAt + livesSeconds;
      const token = await new SignJWT({ exec_id: executionId, tenant_id: tenant, inst: instanceId })
        .setProtectedHeader({ alg: "EdDSA", kid, typ: "JWT" })
        .setIssuer(issuer)
        .setSubject(agentId)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .setJti(crypto.randomUUID())
        .sign(key);
      remember(token, { executionId, tenant, instanceId }, expiresAt);
      return token;
    },
    verify: async (token) => {
      const remembered = known.get(token);
      if (remembered !== undefined && Math.floor(now() / 1000) < remembered.expiresAt) return remembered.identity;
      const key = await keyOf(keys, token);
      if (!key) throw invalidToken();
      const options = { algorithms: ["EdDSA"], audience, issuer, currentDate: new Date(now()) };
      const verified = await jwtVerify(token, key, options).catch(() => null);
      const { exec_id, tenant_id, inst, exp } = verified?.payload ?? {};
      if (typeof exec_id !== "string" || typeof tenant_id !== "string" || typeof inst !== "string")
        throw invalidToken();
      const identity = { executionId: exec_id, tenant: tenant_id, instanceId: inst };
      if (typeof exp === "number") remember(token, identity, exp);
      return identity;
    },
  };
}

async function keyOf(keys: GatewayKeys, token: string) {
  let kid: string | undefined;
  try {
    ({ kid } = decodeProtectedHeader(token));
  } catch {
    return null;
  }
  return kid === undefined ? null : keys.find(kid);
}
