/** The nodes' rows: the runtime's heartbeats, and what nodes say of themselves beside them. They belong to no tenant. */
import { droppedAfterMs } from "../../../actors/cluster/health.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { NodeDetails } from "./schema.ts";

export interface NodeRow {
  readonly id: string;
  readonly host: string;
  readonly heartbeat_at: Date;
  readonly started_at: Date;
  readonly draining: boolean;
  readonly silent_ms: number;
  /** Null: a node of the former version, or one that has only just begun. */
  readonly details: NodeDetails | null;
}

export type ClusterRecords = ReturnType<typeof clusterRecords>;

export function clusterRecords(sql: Sql) {
  return {
    /** Every node that is not dropped, the one that has run for the longest first. */
    async list(): Promise<readonly NodeRow[]> {
      const rows = await sql<(Omit<NodeRow, "details"> & { details: string | null })[]>`
        select n.id, n.host, n.heartbeat_at, n.started_at, n.draining or coalesce(c.draining, false) as draining,
          greatest(0, extract(epoch from now() - n.heartbeat_at) * 1000)::float8 as silent_ms, c.details::text as details
        from runtime_nodes n left join cluster_nodes c on c.id = n.id
        where n.heartbeat_at > now() - ${droppedAfterMs} * interval '1 millisecond' order by n.started_at, n.id`;
      // Written by `tell`.
      return rows.map((row) => ({
        ...row,
        details: row.details === null ? null : (JSON.parse(row.details) as NodeDetails),
      }));
    },

    /** What a node says of itself; nothing where the runtime has no row of it. */
    async tell(id: string, draining: boolean, details: NodeDetails): Promise<void> {
      await sql`
        insert into cluster_nodes (id, draining, details, told_at)
        select id, ${draining}, ${JSON.stringify(details)}::text::jsonb, now() from runtime_nodes where id = ${id}
        on conflict (id) do update set draining = cluster_nodes.draining or excluded.draining,
          details = excluded.details, told_at = excluded.told_at`;
    },
  };
}
