/** Calls that wait: how many there may be, and whose they are. */
import type { Grant } from "../../../actors/policy/security/asked.ts";
import type { ToolCallState } from "../../../actors/tool-call/state.ts";
import { toolCall } from "../../../actors/tool-call/tool-call.ts";
import { defineProjection } from "../../runtime/port.ts";
import { projectRows } from "../../runtime/reads/rows.ts";
import type { Sql } from "../../store/postgres/pool.ts";

/** Calls of one execution, or of one caller without one, that wait at once. */
export const mostOfPrincipal = 8;
/** A place that was taken is kept this long for the call to be opened. */
const placeMs = 60_000;

export interface WaitingRow {
  readonly invocation_id: string;
  readonly tenant: string;
}

export function waitingRecords(sql: Sql) {
  return {
    /**
     * Takes a place. Takers of one principal come one after another, so that none is given twice.
     * @param elsewhere calls of the same execution that wait in its loop
     * @returns false: all are taken
     */
    async take(id: string, tenant: string, principal: string, elsewhere: number): Promise<boolean> {
      return sql.begin(async (tx) => {
        await tx`select pg_advisory_xact_lock(hashtextextended(${`waiting ${tenant} ${principal}`}, 0))`;
        const rows = await tx`
          insert into waiting_calls (invocation_id, tenant, principal, until)
          select ${id}, ${tenant}, ${principal}, now() + ${placeMs} * interval '1 ms'
          where (select count(*) from waiting_calls
            where tenant = ${tenant} and principal = ${principal} and until > now()) + ${elsewhere}::int < ${mostOfPrincipal}
          returning 1`;
        return rows.length > 0;
      });
    },

    async giveBack(id: string): Promise<void> {
      await sql`delete from waiting_calls where invocation_id = ${id}`;
    },

    /** Those that wait; so are all below whose names do not say otherwise. */
    ofSession: (tenant: string, sessionId: string) => sql<WaitingRow[]>`
      select invocation_id, tenant from waiting_calls
      where tenant = ${tenant} and session_id = ${sessionId} and until > ${over}`,

    /** Of an execution, as far as they were made outside of its loop. */
    async countOf(tenant: string, executionId: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from waiting_calls
        where tenant = ${tenant} and execution_id = ${executionId} and until > now()`;
      return row?.count ?? 0;
    },

    ofTenant: (tenant: string, limit: number) => sql<WaitingRow[]>`
      select invocation_id, tenant from waiting_calls
      where tenant = ${tenant} and opened and until > ${over} limit ${limit}`,

    /** Of a tenant, those that have ended too. */
    allOfTenant: (tenant: string, limit: number) => sql<WaitingRow[]>`
      select invocation_id, tenant from waiting_calls where tenant = ${tenant} and opened limit ${limit}`,

    /** What approvers have granted to a caller without an execution: in a session, or to one who needs none. */
    async grantsOf(tenant: string, principal: string, sessionId: string | null): Promise<readonly Grant[]> {
      const rows = await sql<{ grants: string }[]>`
        select grants from waiting_calls where tenant = ${tenant} and principal = ${principal}
          and session_id is not distinct from ${sessionId}::text and execution_id is null and grants is not null`;
      return rows.flatMap(({ grants }) => JSON.parse(grants) as Grant[]);
    },

    /** Those that belong to an execution or a session, from the one behind `after` on. */
    owned: (after: string, limit: number) => sql<
      (WaitingRow & { readonly session_id: string | null; readonly execution_id: string | null })[]
    >`
      select invocation_id, tenant, session_id, execution_id from waiting_calls
      where invocation_id > ${after} and (session_id is not null or execution_id is not null) and until > ${over}
      order by invocation_id limit ${limit}`,

    /** Places that were taken for calls which were never opened. */
    async clear(): Promise<void> {
      await sql`delete from waiting_calls where not opened and until < now() - interval '1 hour'`;
    },
  };
}
export type WaitingRecords = ReturnType<typeof waitingRecords>;

/** Until when a call waits that waits no longer. */
const over = new Date(0);
/** A call waits for as long as its question is open; between two questions for a while. */
const graceMs = 3600_000;

const project = projectRows<ToolCallState>({
  isNews: (before, after) =>
    before.status !== after.status || before.expires_at !== after.expires_at || before.grants !== after.grants,
  rowOf: (key, tenant, { call, status, expires_at, grants = [] }) => ({
    invocation_id: key,
    tenant,
    principal: call.principal,
    session_id: call.session_id,
    execution_id: call.execution?.id ?? null,
    until: status === "waiting" ? new Date(expires_at + graceMs) : over,
    grants: grants.length === 0 ? null : JSON.stringify(grants),
  }),
  upsert: `
insert into waiting_calls (invocation_id, tenant, principal, session_id, execution_id, until, grants, opened)
select invocation_id, tenant, principal, session_id, execution_id, until, grants, true
from json_to_recordset($1::text::json) as r (invocation_id uuid, tenant text, principal text, session_id text,
  execution_id text, until timestamptz, grants text)
on conflict (invocation_id) do update set until = excluded.until, session_id = excluded.session_id,
  execution_id = excluded.execution_id, grants = excluded.grants, opened = true`,
  remove: `
delete from waiting_calls where invocation_id in (select value::uuid from json_array_elements_text($1::text::json))`,
});

export const waitingProjection = defineProjection(toolCall, project);
