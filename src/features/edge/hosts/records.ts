/** The SQL of hosts and their keys, tenant first. */
import type { Capabilities } from "../../../../actors/edge/frames.ts";
import type { HostStatus, NotAccepting } from "../../../../actors/edge-host/state.ts";
import type { Page } from "../../../http/paging.ts";
import { isUuid } from "../../../http/route.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";

export interface HostRow {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly created_by: string;
  readonly enrolled_at: Date;
  readonly revoked_at: Date | null;
  readonly agent_version: string | null;
  readonly held: boolean;
  /** The current one. */
  readonly public_key: Buffer;
  readonly status: HostStatus;
  /** Of the last change of the status; null: since it was enrolled. */
  readonly since: Date | null;
  readonly epoch: number;
  readonly owner_node: string | null;
  readonly link_since: Date | null;
  readonly last_heartbeat_at: Date | null;
  readonly last_seen_at: Date | null;
  readonly boot_id: string | null;
  readonly slots: number | null;
  readonly running: number;
  readonly not_accepting: readonly NotAccepting[];
  /** What the daemon says of its machine, whole; null: it has never connected. */
  readonly capabilities: Capabilities | null;
}

/** The host of a key. */
export interface KeyedHost {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly state: "current" | "next" | "dropped";
  readonly revoked_at: Date | null;
}

export interface KeyRow {
  readonly tenant: string;
  readonly host_id: string;
  readonly state: "current" | "next" | "dropped";
  readonly revoked_at: Date | null;
}

export type NewHost = Pick<HostRow, "id" | "tenant" | "name" | "tags" | "created_by" | "agent_version">;

export interface HostFilter {
  /** All of them. */
  readonly tags: readonly string[];
  readonly includeRevoked: boolean;
  /** All of them. */
  readonly labels: readonly (readonly [string, string])[];
  readonly connected: boolean | null;
  readonly status: HostStatus | null;
}

/** Hosts of a deleted tenant that are revoked by one statement. */
const revokedAtOnce = 500;

export type HostRecords = ReturnType<typeof hostRecords>;

export function hostRecords(sql: Sql) {
  const selecting = sql`
    select h.id, h.tenant, h.name, h.tags, h.created_by, h.enrolled_at, h.revoked_at, h.agent_version, h.held,
      h.status, h.since, h.epoch::float8 as epoch, h.owner_node, h.link_since, h.last_heartbeat_at, h.last_seen_at,
      h.boot_id, h.slots, h.running, h.not_accepting, h.capabilities, k.public_key
    from edge_hosts h join edge_host_keys k on k.host_id = h.id and k.state = 'current'`;

  function conditionsOf(tenant: string, { tags, labels, includeRevoked, connected, status }: HostFilter) {
    const conditions = [sql`h.tenant = ${tenant}`];
    if (tags.length > 0) conditions.push(sql`h.tags @> ${texts(tags)}::text[]`);
    for (const [key, value] of labels) conditions.push(sql`h.labels ->> ${key} = ${value}`);
    if (status === "revoked") conditions.push(sql`h.revoked_at is not null`);
    else if (status !== null || !includeRevoked) conditions.push(sql`h.revoked_at is null`);
    if (status !== null && status !== "revoked") conditions.push(sql`h.status = ${status}`);
    const isConnected = sql`(h.revoked_at is null and h.status in ('connected', 'unhealthy'))`;
    if (connected !== null) conditions.push(connected ? isConnected : sql`not ${isConnected}`);
    return conditions;
  }

  return {
    /** By name and id; one row more than the page asks for when there are more. */
    async list(tenant: string, filter: HostFilter, page: Page): Promise<readonly HostRow[]> {
      const conditions = conditionsOf(tenant, filter);
      if (page.after !== null) {
        const [name = "", id = ""] = page.after;
        // A cursor that was tampered with finds nothing.
        if (!isUuid(id)) return [];
        conditions.push(sql`(h.name, h.id) > (${name}, ${id}::uuid)`);
      }
      const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
      return sql<HostRow[]>`
        ${selecting} where ${where} order by h.name, h.id limit ${page.limit + 1} offset ${page.offset}`;
    },

    async find(tenant: string, id: string, query: Sql | Transaction = sql): Promise<HostRow | null> {
      const [row] = await query<HostRow[]>`${selecting} where h.tenant = ${tenant} and h.id = ${id}`;
      return row ?? null;
    },

    /** A live host, for a change within the transaction. */
    async lock(tx: Transaction, tenant: string, id: string): Promise<HostRow | null> {
      const [row] = await tx<HostRow[]>`
        ${selecting} where h.tenant = ${tenant} and h.id = ${id} and h.revoked_at is null for update of h`;
      return row ?? null;
    },

    async change(
      tx: Transaction,
      tenant: string,
      id: string,
      to: Pick<HostRow, "name" | "tags" | "held">,
    ): Promise<void> {
      await tx`
        update edge_hosts set name = ${to.name}, tags = ${texts(to.tags)}::text[], held = ${to.held}
        where tenant = ${tenant} and id = ${id}`;
    },

    /** Ends a live host; its keys stay its own. @returns whether there was one */
    async revoke(tx: Transaction, tenant: string, id: string): Promise<boolean> {
      const { count } = await tx`
        update edge_hosts set revoked_at = clock_timestamp()
        where tenant = ${tenant} and id = ${id} and revoked_at is null`;
      return count > 0;
    },

    /** Ends some of a tenant's live hosts, those that no one is writing. @returns the ids */
    async revokeSome(tenant: string): Promise<readonly string[]> {
      const rows = await sql<{ id: string }[]>`
        update edge_hosts set revoked_at = clock_timestamp() where id in (
          select id from edge_hosts where tenant = ${tenant} and revoked_at is null
          order by id limit ${revokedAtOnce} for update skip locked)
        returning id`;
      return rows.map((row) => row.id);
    },

    /** Hosts of a tenant whose actors have not heard that they are revoked. */
    async countUnrevoked(tenant: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from edge_hosts where tenant = ${tenant} and status <> 'revoked'`;
      return row?.count ?? 0;
    },

    /** Whose these keys are, of any tenant, by the base64 of the key. */
    async byKeys(keys: readonly Uint8Array[]): Promise<ReadonlyMap<string, KeyedHost>> {
      const rows = await sql<(KeyedHost & { key: string })[]>`
        select encode(k.public_key, 'base64') as key, k.state, h.id, h.tenant, h.name, h.revoked_at
        from edge_host_keys k join edge_hosts h on h.id = k.host_id
        where k.public_key = any(array(select decode(one, 'base64') from unnest(${texts(keys.map((key) => key.toBase64()))}::text[]) as one))`;
      return new Map(rows.map(({ key, ...host }) => [key, host]));
    },

    /** Makes the next key the current one; the former one is dropped. @returns whether it was the next one */
    async promote(tx: Transaction, tenant: string, id: string, key: Uint8Array): Promise<boolean> {
      const [next] = await tx`
        select 1 from edge_host_keys where tenant = ${tenant} and host_id = ${id} and public_key = ${Buffer.from(key)}
          and state = 'next' for update`;
      if (next === undefined) return false;
      await tx`update edge_host_keys set state = 'dropped'
        where tenant = ${tenant} and host_id = ${id} and state = 'current'`;
      await tx`update edge_host_keys set state = 'current'
        where tenant = ${tenant} and host_id = ${id} and public_key = ${Buffer.from(key)}`;
      return true;
    },

    /** Hosts of one tenant are admitted one after another, so that what was counted is still true afterwards. */
    async countLive(tx: Transaction, tenant: string): Promise<number> {
      await tx`select pg_advisory_xact_lock(hashtextextended(${`edge hosts of ${tenant}`}, 0))`;
      return count(tx, tenant);
    },
    count: (tenant: string): Promise<number> => count(sql, tenant),

    async insert(tx: Transaction, host: NewHost): Promise<void> {
      await tx`
        insert into edge_hosts (id, tenant, name, tags, created_by, agent_version)
        values (${host.id}, ${host.tenant}, ${host.name}, ${texts(host.tags)}::text[], ${host.created_by},
          ${host.agent_version})`;
    },

    /** Whose key it is, of any tenant. */
    async keyHolder(query: Sql | Transaction, key: Uint8Array): Promise<KeyRow | null> {
      const [row] = await query<KeyRow[]>`
        select k.tenant, k.host_id, k.state, h.revoked_at
        from edge_host_keys k join edge_hosts h on h.id = k.host_id where k.public_key = ${Buffer.from(key)}`;
      return row ?? null;
    },

    /** @returns false: some host has or had the key */
    async addKey(
      tx: Transaction,
      { tenant, id }: Pick<HostRow, "tenant" | "id">,
      key: Uint8Array,
      state: "current" | "next",
    ): Promise<boolean> {
      const { count } = await tx`
        insert into edge_host_keys (public_key, tenant, host_id, state)
        values (${Buffer.from(key)}, ${tenant}, ${id}, ${state}) on conflict (public_key) do nothing`;
      return count > 0;
    },

    /** Within the last hour. */
    async newKeys(tx: Transaction, tenant: string, id: string): Promise<number> {
      const [row] = await tx<{ count: number }[]>`
        select count(*)::int as count from edge_host_keys
        where tenant = ${tenant} and host_id = ${id} and created_at > now() - interval '1 hour'`;
      return row?.count ?? 0;
    },

    /** Drops the next key, for another one to be it. */
    async dropNext(tx: Transaction, tenant: string, id: string): Promise<void> {
      await tx`update edge_host_keys set state = 'dropped'
        where tenant = ${tenant} and host_id = ${id} and state = 'next'`;
    },

    /** A live host by its id alone, for a daemon, whose proof says that it is the one. */
    async liveById(tx: Transaction, id: string): Promise<HostRow | null> {
      const [row] = await tx<HostRow[]>`${selecting} where h.id = ${id} and h.revoked_at is null for update of h`;
      return row ?? null;
    },
  };
}

async function count(query: Sql | Transaction, tenant: string): Promise<number> {
  const [row] = await query<{ count: number }[]>`
    select count(*)::int as count from edge_hosts where tenant = ${tenant} and revoked_at is null`;
  return row?.count ?? 0;
}
