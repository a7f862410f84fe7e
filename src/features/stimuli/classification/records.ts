/** What classification reads and notes in the table `stimuli`. */
import type { RoutedStimulus } from "../../../../actors/stimulus/router-input.ts";
import { inBatches } from "../../../store/batches.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../store/postgres/pool.ts";

/** A stimulus, and on whose behalf its router runs. */
export interface StoredForRouting extends RoutedStimulus {
  readonly initiatingUserSub: string | null;
}

interface Beginning {
  readonly tenant: string;
  readonly id: string;
  readonly executionId: string;
}
const nameOf = ({ tenant, id }: Pick<Beginning, "tenant" | "id">): string => `${tenant} ${id}`;

const limits = { rows: 256, statements: 2 } as const;

/** Kinds of senders that are no person. */
const impersonal: readonly string[] = ["agent", "webhook", "workflow"];
export const initiatorOf = ({ kind, sub }: { readonly kind: string; readonly sub: string }): string | null =>
  impersonal.includes(kind) ? null : sub;

export function classifyRecords(sql: Sql) {
  return {
    /**
     * Notes under which id the router runs, before it is started. The first id counts.
     * @returns the id that counts; null: the stimulus was settled meanwhile
     */
    begin: inBatches((beginnings: readonly Beginning[]) => writeBeginnings(sql, beginnings), limits),

    /** Null: there is no such stimulus. */
    async routed(tenant: string, id: string): Promise<StoredForRouting | null> {
      const [row] = await sql<
        { source: string; content: string; headers: string; received_by_kind: string; received_by_sub: string }[]
      >`select source, content, headers, received_by_kind, received_by_sub from stimuli
        where tenant = ${tenant} and id = ${id}`;
      if (row === undefined) return null;
      return {
        id,
        tenant,
        source: row.source,
        content: row.content,
        // Written by the acceptance.
        headers: JSON.parse(row.headers) as Record<string, string>,
        initiatingUserSub: initiatorOf({ kind: row.received_by_kind, sub: row.received_by_sub }),
      };
    },
  };
}

/**
 * The answer does not wait for the flush: the start of the execution is flushed behind it, so a note that a crash of the
 * server takes away is one of nothing. Rows are locked in one order, and not looked for among all that are received.
 */
async function writeBeginnings(sql: Sql, beginnings: readonly Beginning[]): Promise<readonly (string | null)[]> {
  const of = (read: (beginning: Beginning) => string) => texts(beginnings.map(read));
  const rows = await sql<{ tenant: string; id: string; router_execution_id: string }[]>`
    with asked as materialized (
      select distinct on (tenant, id) *, 'received' as state from unnest(${of(({ tenant }) => tenant)}::text[],
        ${of(({ id }) => id)}::text[]::uuid[], ${of(({ executionId }) => executionId)}::text[]::uuid[])
        as a (tenant, id, execution_id)
    ), held as materialized (
      select s.tenant, s.id, a.execution_id from asked a
        join stimuli s on s.tenant = a.tenant and s.id = a.id and s.status = a.state
      order by s.tenant, s.id for no key update of s
    )
    update stimuli s set router_execution_id = coalesce(s.router_execution_id, h.execution_id) from held h
    where s.tenant = h.tenant and s.id = h.id
    returning s.tenant, s.id, s.router_execution_id, set_config('synchronous_commit', 'off', true)`;
  const begun = new Map(rows.map((row) => [nameOf(row), row.router_execution_id]));
  return beginnings.map((one) => begun.get(nameOf(one)) ?? null);
}
