/** The SQL of the tables `swarm_locks` and `swarm_messages`, tenant first. */
import type { Json } from "../../../actors/kernel/json.ts";
import type { Sql } from "../../store/postgres/pool.ts";

/** Of a swarm in a tenant. */
export interface SwarmKey {
  readonly tenant: string;
  /** Of the execution that founded it. */
  readonly swarmId: string;
}

export interface LockRow {
  readonly resource_id: string;
  readonly held_by: string;
  readonly acquired_at: Date;
  readonly expires_at: Date;
}

export interface MessageRow {
  readonly id: string;
  readonly sender: string;
  readonly payload: Json;
  readonly sent_at: Date;
}

/** Messages that wait for one receiver. */
export const maxInbox = 1_000;
/** Locks of a swarm. */
const maxLocks = 1_000;
/** For so long what was received is known of, and can be received by the same call again. */
const keptReceived = "1 day";
/** Longer than any execution may wait and run. */
const keptSent = "30 days";

export type SwarmRecords = ReturnType<typeof swarmRecords>;

export function swarmRecords(sql: Sql) {
  return {
    /**
     * Takes a lock, or prolongs it.
     * @param free who holds it no longer, also where its row names one of them
     * @returns the lock as it is then, of any holder; null: the swarm has its share of locks
     */
    async lock(
      { tenant, swarmId }: SwarmKey,
      resource: string,
      holder: string,
      seconds: number,
      free: string | null,
    ): Promise<LockRow | null> {
      const columns = sql`resource_id, held_by, acquired_at, expires_at`;
      const [taken] = await sql<LockRow[]>`
        insert into swarm_locks as l (tenant, swarm_id, resource_id, held_by, acquired_at, expires_at)
        select ${tenant}, ${swarmId}, ${resource}, ${holder}, now(), now() + ${seconds} * interval '1 second'
        where exists (select from swarm_locks o
            where o.tenant = ${tenant} and o.swarm_id = ${swarmId} and o.resource_id = ${resource})
          or (select count(*) from swarm_locks o where o.tenant = ${tenant} and o.swarm_id = ${swarmId}) < ${maxLocks}
        on conflict (tenant, swarm_id, resource_id) do update set held_by = excluded.held_by,
          acquired_at = case when l.held_by = excluded.held_by and l.expires_at > now() then l.acquired_at else now() end,
          expires_at = excluded.expires_at
        where l.held_by = excluded.held_by or l.expires_at <= now() or l.held_by = ${free}::text::uuid
        returning ${columns}`;
      if (taken !== undefined) return taken;
      const [held] = await sql<LockRow[]>`
        select ${columns} from swarm_locks
        where tenant = ${tenant} and swarm_id = ${swarmId} and resource_id = ${resource}`;
      return held ?? null;
    },

    /** Locks whose time is over, of one swarm: they take a share of what it may hold until they are swept. */
    async dropExpired({ tenant, swarmId }: SwarmKey): Promise<number> {
      const { count } = await sql`
        delete from swarm_locks where tenant = ${tenant} and swarm_id = ${swarmId} and expires_at <= now()`;
      return count;
    },

    /** @returns whether the holder had it */
    async unlock({ tenant, swarmId }: SwarmKey, resource: string, holder: string): Promise<boolean> {
      const { count } = await sql`
        delete from swarm_locks where tenant = ${tenant} and swarm_id = ${swarmId} and resource_id = ${resource}
          and held_by = ${holder} and expires_at > now()`;
      return count > 0;
    },

    /**
     * Stores a message under its id; the same id again is the same message.
     * @returns false: as many wait for the receiver as may
     */
    async send(
      { tenant, swarmId }: SwarmKey,
      message: { readonly id: string; readonly from: string; readonly to: string; readonly payload: string },
    ): Promise<boolean> {
      const { id, from, to, payload } = message;
      return sql.begin(async (tx) => {
        // Senders to one receiver come one after the other, so that what was counted still holds.
        await tx`select pg_advisory_xact_lock(hashtextextended(${`swarm message ${tenant} ${to}`}, 0))`;
        const rows = await tx`
          insert into swarm_messages (tenant, swarm_id, id, sender, receiver, payload, payload_bytes, sent_at)
          select ${tenant}, ${swarmId}, ${id}, ${from}, ${to}, ${payload}, ${Buffer.byteLength(payload)}, now()
          where (select count(*) from swarm_messages w where w.tenant = ${tenant} and w.swarm_id = ${swarmId}
            and w.receiver = ${to} and w.received_at is null) < ${maxInbox}
          on conflict (tenant, id) do nothing returning 1`;
        if (rows.length > 0) return true;
        return (await tx`select 1 from swarm_messages where tenant = ${tenant} and id = ${id}`).length > 0;
      });
    },

    /** The first messages that wait for a receiver, each once; the same call again gets the same ones. */
    async receive({ tenant, swarmId }: SwarmKey, to: string, call: string, limit: number): Promise<MessageRow[]> {
      const rows = await sql<(Omit<MessageRow, "payload"> & { payload: string; position: string })[]>`
        with earlier as (
          select id, position from swarm_messages
          where tenant = ${tenant} and swarm_id = ${swarmId} and received_by = ${call}
        ), waiting as (
          select id, position from swarm_messages
          where tenant = ${tenant} and swarm_id = ${swarmId} and receiver = ${to} and received_at is null
            and not exists (select from earlier)
          order by position limit ${limit} for update skip locked
        ), taken as (
          update swarm_messages m set received_at = now(), received_by = ${call}
          from waiting w where m.tenant = ${tenant} and m.id = w.id
          returning m.id, m.sender, m.payload, m.sent_at, m.position
        )
        select id, sender, payload, sent_at, position from taken
        union all
        select m.id, m.sender, m.payload, m.sent_at, m.position from swarm_messages m join earlier e on e.id = m.id
          where m.tenant = ${tenant} and m.payload is not null
        order by position`;
      // Written by `send`.
      return rows.map(({ id, sender, payload, sent_at }) => ({
        id,
        sender,
        payload: JSON.parse(payload) as Json,
        sent_at,
      }));
    },

    /**
     * Takes away what no execution can want any more: at most so many rows of each kind.
     * @returns whether there is more of it
     */
    async sweep(limit: number): Promise<boolean> {
      const emptied = await sql`
        update swarm_messages set payload = null where (tenant, id) in (
          select tenant, id from swarm_messages
          where payload is not null and received_at < now() - interval '1 hour' limit ${limit})`;
      const messages = await sql`
        delete from swarm_messages where (tenant, id) in (
          select tenant, id from swarm_messages
          where received_at < now() - ${keptReceived}::interval or sent_at < now() - ${keptSent}::interval
          limit ${limit})`;
      const locks = await sql`
        delete from swarm_locks where (tenant, swarm_id, resource_id) in (
          select tenant, swarm_id, resource_id from swarm_locks where expires_at < now() limit ${limit})`;
      return [emptied, messages, locks].some(({ count }) => count === limit);
    },
  };
}
