/** Sessions by the token that an envelope carries: verified once, remembered by its text. */
import { createHash, type KeyObject, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Starter } from "../../../../actors/identity/starter.ts";
import { spkiOf } from "../../../../actors/seal/public-key.ts";
import { ed25519Key } from "../../../lib/ed25519.ts";
import type { SessionRecords, SessionRow } from "../sessions/records.ts";
import type { SecurityTokens } from "../tokens.ts";

/** What of a session never changes. */
export interface Session {
  readonly id: string;
  readonly tenant: string;
  readonly executionId: string;
  readonly agentId: string;
  readonly detached: boolean;
  readonly principal: string;
  readonly context: string;
  readonly patterns: readonly string[] | null;
  readonly key: KeyObject;
  readonly iteration: number | null;
  readonly opener: Starter | null;
  /** Unix seconds. */
  readonly expiresAt: number;
}

export type SessionFault = "invalid_token" | "token_expired" | "session_not_found" | "session_inactive";

export interface LiveSessions {
  /** @param at Unix seconds by PostgreSQL's clock */
  of(token: string, at: number): Promise<Session | SessionFault>;
  /** The session is over; the next envelope is told so by its row. */
  forget(token: string): void;
}

/** Sessions in use at once; one more is read anew. */
const capacity = 10_000;

export function createLiveSessions(
  tokens: Pick<SecurityTokens, "verify">,
  records: Pick<SessionRecords, "find">,
): LiveSessions {
  const known = new LRUCache<string, Session>({ max: capacity });
  return {
    async of(token, at) {
      const remembered = known.get(token);
      if (remembered !== undefined) return at < remembered.expiresAt ? remembered : "token_expired";
      const verified = await tokens.verify(token);
      if (typeof verified === "string") return verified;
      const row = await records.find(verified.tenant, verified.sessionId);
      if (row === null) return "session_not_found";
      if (!timingSafeEqual(createHash("sha256").update(token).digest(), Buffer.from(row.token))) return "invalid_token";
      if (row.status !== "active") return "session_inactive";
      const session = sessionOf(row);
      known.set(token, session);
      return session;
    },
    forget: (token) => void known.delete(token),
  };
}

function sessionOf(row: SessionRow): Session {
  return {
    id: row.id,
    tenant: row.tenant,
    executionId: row.execution_id,
    agentId: row.agent_id,
    detached: row.detached,
    principal: row.principal,
    context: row.security_context,
    patterns: row.allowed_tool_patterns === null ? null : (JSON.parse(row.allowed_tool_patterns) as string[]),
    key: ed25519Key(spkiOf(row.public_key)),
    iteration: row.iteration_number,
    opener: row.opener === null ? null : (JSON.parse(row.opener) as Starter),
    expiresAt: row.expires_at.getTime() / 1000,
  };
}
