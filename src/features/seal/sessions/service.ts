/** Sessions as people see and end them (docs/reference/seal.md). */
import { createHash } from "node:crypto";
import type { Starter } from "../../../../actors/identity/starter.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { isStorable } from "../../../../actors/manifest/storable.ts";
import { readPublicKeyOrHex } from "../../../../actors/seal/public-key.ts";
import type { Page } from "../../../http/paging.ts";
import { isUuid } from "../../../http/route.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { type Audit, type AuditedCall, auditedBy } from "../../audit/port.ts";
import type { Incidents } from "../../incidents/port.ts";
import type { WaitingCalls } from "../../waiting-calls/port.ts";
import { type Attestation, type Opener, soundKey } from "./attestation.ts";
import type { SessionFilter, SessionRecords, SessionRow } from "./records.ts";
import type { AttestationBody, OpenSessionBody, RevokedBody, SessionBody } from "./schema.ts";

export interface SessionServiceOptions {
  readonly sql: Sql;
  readonly records: SessionRecords;
  readonly attestation: Attestation;
  readonly audit: Pick<Audit, "append">;
  readonly incidents: Pick<Incidents, "report">;
  readonly waiting: Pick<WaitingCalls, "withdrawSession">;
  /** Told of sessions that were ended. */
  readonly ended: (ids: readonly string[]) => void;
  readonly info: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

export interface SessionCaller extends AuditedCall {
  readonly tenant: string;
}

export type SessionService = ReturnType<typeof createSessionService>;

export function createSessionService(options: SessionServiceOptions) {
  const { sql, records, attestation, audit, incidents, ended, info } = options;

  return {
    list: (tenant: string, filter: SessionFilter, page: Page) => records.list(tenant, filter, page),

    /** The sessions that an id names, newest first. @throws Problem 404 `session_not_found` */
    async find(tenant: string, id: string): Promise<readonly SessionRow[]> {
      const rows = isUuid(id) ? await records.of(tenant, id.toLowerCase()) : [];
      if (rows.length === 0) throw sessionNotFound();
      return rows;
    },

    /** Opens a session of an execution for a key that the caller brings. */
    open(opener: Opener, body: OpenSessionBody): Promise<AttestationBody> {
      const { execution_id, public_key_b64, security_context_name, sub, allowed_tool_patterns: patterns } = body;
      return attestation.ofExecution(opener, execution_id, sub === undefined || sub === "" ? null : sub, {
        publicKey: soundKey(readPublicKeyOrHex(public_key_b64)),
        context: security_context_name?.trim() || null,
        ...{ containerId: null, workloadId: null, taskSummary: null },
        patterns: patterns ?? null,
      });
    },

    /** Repeatable: what is ended already stays as it is. @throws Problem 404 `session_not_found` */
    async revoke(caller: SessionCaller, id: string, reason: string | null): Promise<RevokedBody> {
      const { tenant } = caller;
      const rows = await this.find(tenant, id);
      const active = rows.filter(({ status }) => status === "active").map((row) => row.id);
      const revoked = await sql.begin(async (tx) => {
        const ids = await records.revoke(tx, active, "revoked");
        if (ids.length > 0) {
          await audit.append(tx, auditedBy(caller), {
            tenant,
            action: "seal_session.revoked",
            target: { type: "seal_session", id: ids[0] ?? id },
            details: { session_ids: [...ids], reason: reason === null || !isStorable(reason) ? null : reason },
          });
        }
        return ids;
      });
      ended(revoked);
      for (const row of rows) {
        if (!revoked.includes(row.id)) continue;
        const { agent_id, execution_id, detached } = row;
        await options.waiting.withdrawSession(tenant, row.id, "The session was revoked");
        info("seal_session_revoked", { tenant, session_id: row.id, execution_id });
        incidents.report({
          category: "seal_session_revoked",
          tenant,
          agentId: detached ? null : agent_id,
          executionId: detached ? null : execution_id,
          sessionId: row.id,
          ...{ toolName: null, violationType: null },
          details: { reason },
        });
      }
      const after = await records.of(tenant, id.toLowerCase());
      const times = after.flatMap(({ revoked_at }) => revoked_at?.getTime() ?? []);
      return {
        status: "success",
        execution_id: rows[0]?.execution_id ?? id,
        session_ids: rows.map((row) => row.id),
        session_status: "revoked",
        // One that had expired before was never revoked.
        revoked_at: new Date(times.length === 0 ? (rows[0]?.expires_at ?? 0) : Math.max(...times)).toISOString(),
      };
    },
  };
}

const sessionNotFound = () => new Problem("session_not_found", "There is no such session");

export function sessionBody(row: SessionRow): SessionBody {
  const time = (at: Date | null) => at?.toISOString() ?? null;
  return {
    session_id: row.id,
    execution_id: row.execution_id,
    agent_id: row.agent_id,
    tenant_id: row.tenant,
    security_context: row.security_context,
    allowed_tool_patterns:
      row.allowed_tool_patterns === null ? null : (JSON.parse(row.allowed_tool_patterns) as string[]),
    public_key_fingerprint: createHash("sha256").update(row.public_key).digest("hex"),
    container_id: row.container_id,
    workload_id: row.workload_id,
    instance_id: row.instance_id,
    status: row.status,
    session_status: row.status,
    revoked_reason: row.revoked_reason,
    detached: row.detached,
    opened_by: openerOf(row.opener),
    calls: Number(row.calls),
    created_at: row.created_at.toISOString(),
    last_used_at: time(row.last_used_at),
    expires_at: row.expires_at.toISOString(),
    revoked_at: time(row.revoked_at),
  };
}

/** @param opener JSON of a `Starter` */
function openerOf(opener: string | null): SessionBody["opened_by"] {
  if (opener === null) return null;
  const { kind, sub, key_id } = JSON.parse(opener) as Starter;
  return { kind, user_id: sub, key_id };
}
