/** Who holds which link: heartbeats into rows, many at once; links whose node has died, or that are another node's now. */
import { numbers, texts } from "../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../store/postgres/pool.ts";

export interface LinkRow {
  readonly id: string;
  readonly tenant: string;
  readonly epoch: number;
  readonly owner_node: string | null;
  readonly revoked_at: Date | null;
}

/** What was heard of a host over a link. */
export interface Heard {
  readonly id: string;
  readonly epoch: number;
  readonly running: number;
  /** Unix ms; null: no heartbeat has come over this link. */
  readonly heartbeatAt: number | null;
  /** Unix ms. */
  readonly seenAt: number;
}

/** Hosts of one statement. */
const atOnce = 1000;

export type PresenceRecords = ReturnType<typeof presenceRecords>;

/** All of it is of hosts by their ids, which a proved link or a row names. */
export function presenceRecords(sql: Sql) {
  return {
    /**
     * Writes what was heard, where the link is the host's still. Rows that are being written by others are left out: no
     * commit waits for this one.
     * @returns the hosts whose link it is
     */
    async heard(node: string, all: readonly Heard[]): Promise<ReadonlySet<string>> {
      const found = new Set<string>();
      for (let from = 0; from < all.length; from += atOnce) {
        const some = all.slice(from, from + atOnce);
        const rows = await sql<{ id: string }[]>`
          update edge_hosts h set
            last_heartbeat_at = coalesce(to_timestamp(nullif(u.heartbeat, 0) / 1000), h.last_heartbeat_at),
            last_seen_at = to_timestamp(u.seen / 1000), running = u.running
          from unnest(${texts(some.map(({ id }) => id))}::uuid[], ${numbers(some.map(({ epoch }) => epoch))}::bigint[],
            ${numbers(some.map(({ running }) => running))}::int[],
            ${numbers(some.map(({ heartbeatAt }) => heartbeatAt ?? 0))}::float8[],
            ${numbers(some.map(({ seenAt }) => seenAt))}::float8[]) as u (id, epoch, running, heartbeat, seen)
          where h.id = u.id and h.id in (
            select f.id from edge_hosts f where f.id = any(${texts(some.map(({ id }) => id))}::uuid[])
            for update skip locked)
            and h.epoch = u.epoch and h.revoked_at is null
          returning case when h.owner_node = ${node} then h.id end as id`;
        for (const { id } of rows) if (id !== null) found.add(id);
      }
      return found;
    },

    rows: (ids: readonly string[]): Promise<readonly LinkRow[]> => sql<LinkRow[]>`
      select id, tenant, epoch::float8 as epoch, owner_node, revoked_at from edge_hosts
      where id = any(${texts(ids)}::uuid[])`,

    /** Hosts whose link is one of a node that does not live, behind the given one. */
    left: (live: readonly string[], after: LinkRow | null, limit: number): Promise<readonly LinkRow[]> =>
      sql<LinkRow[]>`
        select id, tenant, epoch::float8 as epoch, owner_node, revoked_at from edge_hosts
        where owner_node is not null and not owner_node = any(${texts(live)}::text[])
          and id > ${after?.id ?? "00000000-0000-0000-0000-000000000000"}::uuid order by id limit ${limit}`,

    /** Hosts that are said to be this node's, and that it has not heard of for so long, ms. */
    silent: (node: string, forMs: number): Promise<readonly LinkRow[]> => sql<LinkRow[]>`
      select id, tenant, epoch::float8 as epoch, owner_node, revoked_at from edge_hosts
      where owner_node = ${node} and greatest(last_seen_at, link_since)
        < clock_timestamp() - make_interval(secs => ${forMs / 1000}) limit ${atOnce}`,

    /** Hosts that are revoked while their actor has not heard of it. */
    toRevoke: (): Promise<readonly LinkRow[]> => sql<LinkRow[]>`
      select id, tenant, epoch::float8 as epoch, owner_node, revoked_at from edge_hosts
      where revoked_at is not null and status <> 'revoked' limit ${atOnce}`,

    /** Hosts that people hold, or let go, while their actor has not heard of it. */
    toHold: (): Promise<readonly (LinkRow & { readonly held: boolean })[]> => sql<
      (LinkRow & { readonly held: boolean })[]
    >`
      select id, tenant, epoch::float8 as epoch, owner_node, revoked_at, held from edge_hosts
      where revoked_at is null and held <> ('held' = any (not_accepting)) limit ${atOnce}`,

    /** Hosts of a tenant, behind the given one, whatever has become of them. */
    ofTenant: (tenant: string, after: string | null, limit: number): Promise<readonly { readonly id: string }[]> =>
      sql<{ id: string }[]>`
        select id from edge_hosts where tenant = ${tenant}
          and id > ${after ?? "00000000-0000-0000-0000-000000000000"}::uuid order by id limit ${limit}`,
  };
}
