/** Swarms as they are read, tenant first: their rows with the locks that hold and the messages of a day. */
import type { Fragment } from "postgres";
import type { SwarmStatus } from "../../../actors/swarm/messages.ts";
import { type List, listOf, type Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Swarm, SwarmInFull } from "./schema.ts";

/** Of one swarm, the newest first. */
const shownMessages = 50;

interface Row {
  readonly swarm_id: string;
  readonly tenant: string;
  readonly status: SwarmStatus;
  readonly created_at: Date;
  readonly dissolved_at: Date | null;
  readonly member_ids: readonly string[];
  readonly lock_count: number;
  readonly recent_message_count: number;
}

export type SwarmReading = ReturnType<typeof swarmReading>;

export function swarmReading(sql: Sql) {
  const columns = sql`s.swarm_id, s.tenant, s.status, s.created_at, s.dissolved_at, s.member_ids,
    (select count(*)::int from swarm_locks l
      where l.tenant = s.tenant and l.swarm_id = s.swarm_id and l.expires_at > now()) as lock_count,
    (select count(*)::int from swarm_messages m where m.tenant = s.tenant and m.swarm_id = s.swarm_id
      and m.sent_at > now() - interval '1 day') as recent_message_count`;
  const hasMembers = sql`s.member_ids <> '{}'`;

  async function one(tenant: string, id: string): Promise<Swarm | null> {
    const [row] = await sql<Row[]>`
      select ${columns} from swarms s where s.tenant = ${tenant} and s.swarm_id = ${id} and ${hasMembers}`;
    return row === undefined ? null : shown(row);
  }

  return {
    one,

    /** Newest first. @param swarmId this one alone; null: all */
    async list(
      tenant: string,
      { status, swarmId }: { readonly status: SwarmStatus | null; readonly swarmId: string | null },
      page: Page,
    ): Promise<List<"swarms", Swarm>> {
      const conditions: Fragment[] = [sql`s.tenant = ${tenant} and ${hasMembers}`];
      if (status !== null) conditions.push(sql`s.status = ${status}`);
      if (swarmId !== null) conditions.push(sql`s.swarm_id = ${swarmId}`);
      if (page.after !== null) {
        const [position = "", id = ""] = page.after;
        // A cursor that was tampered with finds nothing.
        if (!/^\d{1,14}$/.test(position) || !isUuid(id)) return listOf("swarms", [], page, () => []);
        conditions.push(sql`(s.created_at, s.swarm_id) < (to_timestamp(${position}::bigint / 1000.0), ${id}::uuid)`);
      }
      const where = conditions.reduce((all, condition) => sql`${all} and ${condition}`);
      const rows = await sql<Row[]>`
        select ${columns} from (
          select * from swarms s where ${where}
          order by created_at desc, swarm_id desc limit ${page.limit + 1} offset ${page.offset}) s
        order by created_at desc, swarm_id desc`;
      return listOf("swarms", rows.map(shown), page, (swarm) => [String(Date.parse(swarm.created_at)), swarm.id]);
    },

    async inFull(tenant: string, id: string): Promise<SwarmInFull | null> {
      const swarm = await one(tenant, id);
      if (swarm === null) return null;
      const locks = await sql<{ resource_id: string; held_by: string; acquired_at: Date; expires_at: Date }[]>`
        select resource_id, held_by, acquired_at, expires_at from swarm_locks
        where tenant = ${tenant} and swarm_id = ${id} and expires_at > now() order by acquired_at, resource_id`;
      const messages = await sql<{ sender: string; receiver: string; payload_bytes: number; sent_at: Date }[]>`
        select sender, receiver, payload_bytes, sent_at from swarm_messages
        where tenant = ${tenant} and swarm_id = ${id} order by sent_at desc, position desc limit ${shownMessages}`;
      return {
        ...swarm,
        locks: locks.map((lock) => ({
          ...lock,
          acquired_at: lock.acquired_at.toISOString(),
          expires_at: lock.expires_at.toISOString(),
        })),
        recent_messages: messages.map(({ sender, receiver, payload_bytes, sent_at }) => ({
          from: sender,
          to: receiver,
          payload_bytes,
          sent_at: sent_at.toISOString(),
        })),
      };
    },

    /** How many are active; null: of all tenants. */
    async countActive(tenant: string | null): Promise<number> {
      const of = tenant === null ? sql`true` : sql`s.tenant = ${tenant}`;
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from swarms s where ${of} and s.status = 'active' and ${hasMembers}`;
      return row?.count ?? 0;
    },

    /** Of a tenant, those without a member too. */
    async ofTenant(tenant: string, limit: number): Promise<readonly string[]> {
      const rows = await sql<{ swarm_id: string }[]>`
        select swarm_id from swarms where tenant = ${tenant} limit ${limit}`;
      return rows.map(({ swarm_id }) => swarm_id);
    },
  };
}

const shown = ({ swarm_id, tenant, status, created_at, dissolved_at, member_ids, ...counts }: Row): Swarm => ({
  swarm_id,
  id: swarm_id,
  parent_execution_id: swarm_id,
  tenant_id: tenant,
  member_ids: [...member_ids],
  member_count: member_ids.length,
  status,
  created_at: created_at.toISOString(),
  dissolved_at: dissolved_at?.toISOString() ?? null,
  ...counts,
});
