/** The table of sessions, tenant first. */
import type { Starter } from "../../../../actors/identity/starter.ts";
import type { Page } from "../../../http/paging.ts";
import { isUuid } from "../../../http/route.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";

export interface SessionRow {
  readonly id: string;
  readonly tenant: string;
  readonly execution_id: string;
  readonly agent_id: string;
  readonly detached: boolean;
  readonly principal: string;
  readonly security_context: string;
  /** JSON. */
  readonly allowed_tool_patterns: string | null;
  readonly public_key: Uint8Array;
  readonly token: Uint8Array;
  readonly container_id: string | null;
  readonly workload_id: string | null;
  readonly instance_id: string | null;
  readonly iteration_number: number | null;
  /** JSON of a `Starter`. */
  readonly opener: string | null;
  readonly status: "active" | "expired" | "revoked";
  readonly revoked_reason: string | null;
  readonly calls: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
}

/** A session as an attestation opens it. */
export interface NewSession {
  readonly id: string;
  readonly tenant: string;
  readonly executionId: string;
  readonly agentId: string;
  readonly detached: boolean;
  readonly principal: string;
  readonly securityContext: string;
  readonly patterns: readonly string[] | null;
  readonly publicKey: Uint8Array;
  /** SHA-256. */
  readonly token: Uint8Array;
  readonly containerId: string | null;
  readonly workloadId: string | null;
  readonly instanceId: string | null;
  readonly iteration: number | null;
  readonly opener: Starter | null;
  /** Unix seconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** Why a session is over before its time. */
export type RevokedReason = "execution_ended" | "instance_ended" | "revoked" | "superseded" | "deleted";

/** Active ones of an execution, or of who holds detached ones. */
const maxActive = 5;
/** Of an execution, or of who holds detached ones. */
const attestationsPerMinute = 30;
/** Tool calls of a session at once. */
export const attemptsBurst = 100;
export const attemptsPerSecond = 20;

export type SessionRecords = ReturnType<typeof sessionRecords>;

export function sessionRecords(sql: Sql) {
  const columns = sql`id, tenant, execution_id, agent_id, detached, principal, security_context, allowed_tool_patterns,
    public_key, token, container_id, workload_id, instance_id, iteration_number, opener, revoked_reason, calls, created_at,
    last_used_at, expires_at, revoked_at,
    case when status = 'active' and expires_at <= clock_timestamp() then 'expired' else status end as status`;

  return {
    /** Attestations of one principal that are opened under this take turns. */
    lock: (tx: Transaction, { tenant, principal }: Pick<NewSession, "tenant" | "principal">) =>
      tx`select pg_advisory_xact_lock(hashtextextended(${`seal ${tenant} ${principal}`}, 0))`,

    /**
     * Opens a session by one statement; the oldest active ones of the same principal above five are superseded.
     * @returns the ids of those, or null: the principal has had its attestations of the minute
     */
    async open(on: Sql | Transaction, session: NewSession): Promise<readonly string[] | null> {
      const { tenant, principal, patterns, opener } = session;
      const [row] = await on<{ superseded: string[] }[]>`
        with recent as (
          select count(*)::int as made from seal_sessions
          where tenant = ${tenant} and principal = ${principal} and created_at > clock_timestamp() - interval '1 minute'),
        superseded as (
          update seal_sessions set status = 'revoked', revoked_reason = 'superseded', revoked_at = clock_timestamp()
          where (select made from recent) < ${attestationsPerMinute} and status = 'active' and id in (
            select id from seal_sessions where tenant = ${tenant} and principal = ${principal} and status = 'active'
              and expires_at > clock_timestamp()
            order by created_at desc, id desc offset ${maxActive - 1})
          returning id)
        insert into seal_sessions
          (id, tenant, execution_id, agent_id, detached, principal, security_context, allowed_tool_patterns, public_key,
            token, container_id, workload_id, instance_id, iteration_number, opener, attempts_left, created_at, expires_at)
        select ${session.id}::uuid, ${tenant}, ${session.executionId}::uuid, ${session.agentId}::uuid, ${session.detached},
          ${principal}, ${session.securityContext}, ${patterns === null ? null : JSON.stringify(patterns)},
          ${Buffer.from(session.publicKey)}::bytea, ${Buffer.from(session.token)}::bytea, ${session.containerId},
          ${session.workloadId}, ${session.instanceId}::uuid, ${session.iteration}::integer,
          ${opener === null ? null : JSON.stringify(opener)}, ${attemptsBurst}::float8,
          to_timestamp(${session.issuedAt}::float8), to_timestamp(${session.expiresAt}::float8)
        from recent where made < ${attestationsPerMinute}
        returning array(select id from superseded) as superseded`;
      return row?.superseded ?? null;
    },

    async find(tenant: string, id: string): Promise<SessionRow | null> {
      const [row] = await sql<SessionRow[]>`
        select ${columns} from seal_sessions where tenant = ${tenant} and id = ${id}`;
      return row ?? null;
    },

    /** How a session and its execution stand now. */
    async standing({ id, executionId, detached }: Pick<NewSession, "id" | "executionId" | "detached">) {
      const [row] = await sql<{ session: string; execution: string | null }[]>`
        select s.status as session, e.status as execution from seal_sessions s
        left join executions e on e.execution_id = ${executionId} where s.id = ${id}`;
      if (row?.session !== "active") return "session_inactive";
      return detached || row.execution === "running" ? "active" : "execution_not_running";
    },

    /** Whether what waits in a session has to be taken back; sessions that were superseded let it go on. */
    async isOver(tenant: string, id: string): Promise<boolean> {
      const [row] = await sql<{ over: boolean }[]>`
        select status = 'revoked' and revoked_reason is distinct from 'superseded' as over from seal_sessions
        where tenant = ${tenant} and id = ${id}`;
      return row?.over ?? true;
    },

    /** The session of that id, or those of the execution of that id; newest first. */
    of: (tenant: string, id: string, on: Sql | Transaction = sql) => on<SessionRow[]>`
      select ${columns} from seal_sessions
      where tenant = ${tenant} and (id = ${id} or execution_id = ${id}) order by created_at desc, id desc limit 500`,

    /** One more than the page asks for when there are more. */
    async list(tenant: string, filter: SessionFilter, { after, limit, offset }: Page): Promise<readonly SessionRow[]> {
      const conditions = [sql`tenant = ${tenant}`];
      if (filter.execution_id !== undefined) {
        if (!isUuid(filter.execution_id)) return [];
        conditions.push(sql`execution_id = ${filter.execution_id}`);
      }
      if (filter.status === "active") conditions.push(sql`status = 'active' and expires_at > clock_timestamp()`);
      if (filter.status === "expired") conditions.push(sql`status = 'active' and expires_at <= clock_timestamp()`);
      if (filter.status === "revoked") conditions.push(sql`status = 'revoked'`);
      const [position = "", id = ""] = after ?? [];
      if (after !== null) {
        if (!/^\d{1,14}$/.test(position) || !isUuid(id)) return [];
        conditions.push(sql`(created_at, id) < (to_timestamp(${position}::bigint / 1000.0), ${id}::uuid)`);
      }
      const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
      return sql<SessionRow[]>`
        select ${columns} from seal_sessions where ${where}
        order by created_at desc, id desc limit ${limit + 1} offset ${offset}`;
    },

    /** Ends active sessions. @returns their ids */
    async revoke(on: Sql | Transaction, ids: readonly string[], reason: RevokedReason): Promise<readonly string[]> {
      if (ids.length === 0) return [];
      const rows = await on<{ id: string }[]>`
        update seal_sessions set status = 'revoked', revoked_reason = ${reason}, revoked_at = clock_timestamp()
        where id = any(${[...ids]}::uuid[]) and status = 'active' returning id`;
      return rows.map(({ id }) => id);
    },

    /** Ends every active session of a tenant. */
    revokeOf: (tenant: string, reason: RevokedReason) => sql`
      update seal_sessions set status = 'revoked', revoked_reason = ${reason}, revoked_at = clock_timestamp()
      where tenant = ${tenant} and status = 'active'`,

    /** Removes sessions that ended long ago. @returns how many went; called again while it is the most at once */
    async erase(days: number, most: number): Promise<number> {
      const { count } = await sql`
        delete from seal_sessions where id in (
          select id from seal_sessions where created_at < now() - make_interval(days => ${days + 1})
            and expires_at < now() - make_interval(days => ${days}) order by created_at limit ${most})`;
      return count;
    },
  };
}

export interface SessionFilter {
  readonly execution_id?: string;
  readonly status?: "active" | "expired" | "revoked";
}
