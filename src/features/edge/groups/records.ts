/** The SQL of groups, tenant first, and of which hosts a selector means. */
import type { Selector } from "../../../../actors/edge/selector.ts";
import type { Page } from "../../../http/paging.ts";
import { isUuid } from "../../../http/route.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { matching } from "../hosts/port.ts";

export interface GroupRow {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly selector: Selector | null;
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Ids of live hosts, sorted. */
  readonly pinned: readonly string[];
}

export interface MemberRow {
  readonly id: string;
  readonly name: string;
  readonly status: "connected" | "unhealthy" | "disconnected";
}

/** Groups whose members are counted by one statement. */
const countedAtOnce = 20;

export type GroupRecords = ReturnType<typeof groupRecords>;

export function groupRecords(sql: Sql) {
  const columns = sql`g.id, g.tenant, g.name, g.selector, g.created_by, g.created_at, g.updated_at,
    array(select p.host_id::text from edge_group_pins p join edge_hosts h on h.id = p.host_id
      where p.group_id = g.id and h.tenant = g.tenant and h.revoked_at is null order by p.host_id) as pinned`;

  /** The live hosts of a group: those that its selector means, and those that are pinned. */
  const membersOf = ({ id, tenant, selector }: Pick<GroupRow, "id" | "tenant" | "selector">) => sql`
    edge_hosts h where h.tenant = ${tenant} and h.revoked_at is null and ((${matching(sql, selector)})
      or h.id in (select host_id from edge_group_pins where group_id = ${id}))`;

  return {
    /** By name; one row more than the page asks for when there are more. */
    async list(tenant: string, page: Page): Promise<readonly GroupRow[]> {
      const [name = "", id = ""] = page.after ?? [];
      // A cursor that was tampered with finds nothing.
      if (page.after !== null && !isUuid(id)) return [];
      const from = page.after === null ? sql`true` : sql`(g.name, g.id) > (${name}, ${id}::uuid)`;
      return sql<GroupRow[]>`
        select ${columns} from edge_groups g where g.tenant = ${tenant} and ${from}
        order by g.name, g.id limit ${page.limit + 1} offset ${page.offset}`;
    },

    async find(tenant: string, id: string, query: Sql | Transaction = sql): Promise<GroupRow | null> {
      const [row] = await query<GroupRow[]>`
        select ${columns} from edge_groups g where g.tenant = ${tenant} and g.id = ${id}`;
      return row ?? null;
    },

    async named(tenant: string, name: string): Promise<GroupRow | null> {
      const [row] = await sql<GroupRow[]>`
        select ${columns} from edge_groups g where g.tenant = ${tenant} and g.name = ${name}`;
      return row ?? null;
    },

    /** By the group's id. */
    async countMembers(groups: readonly GroupRow[]): Promise<ReadonlyMap<string, number>> {
      const counts = new Map<string, number>();
      for (let at = 0; at < groups.length; at += countedAtOnce) {
        const some = groups.slice(at, at + countedAtOnce);
        const each = some.map(
          (group) => sql`select ${group.id}::text as id, count(*)::int as count from ${membersOf(group)}`,
        );
        const rows = await sql<{ id: string; count: number }[]>`
          ${each.reduce((all, one) => sql`${all} union all ${one}`)}`;
        for (const { id, count } of rows) counts.set(id, count);
      }
      return counts;
    },

    /** By name and id. */
    members: (group: GroupRow): Promise<readonly MemberRow[]> =>
      sql<MemberRow[]>`select h.id, h.name, h.status from ${membersOf(group)} order by h.name, h.id`,

    /** Groups of one tenant are made one after another. */
    async count(tx: Transaction, tenant: string): Promise<number> {
      await tx`select pg_advisory_xact_lock(hashtextextended(${`edge groups of ${tenant}`}, 0))`;
      const [row] = await tx<{ count: number }[]>`
        select count(*)::int as count from edge_groups where tenant = ${tenant}`;
      return row?.count ?? 0;
    },

    /** @returns whether it is there now: false where another has the name */
    async insert(
      tx: Transaction,
      { id, tenant, name, selector, created_by }: Pick<GroupRow, "id" | "tenant" | "name" | "selector" | "created_by">,
    ): Promise<boolean> {
      const { count } = await tx`
        insert into edge_groups (id, tenant, name, selector, created_by)
        values (${id}, ${tenant}, ${name}, ${storedSelector(selector)}::text::jsonb, ${created_by})
        on conflict (tenant, name) do nothing`;
      return count > 0;
    },

    async lock(tx: Transaction, tenant: string, id: string): Promise<GroupRow | null> {
      const [row] = await tx<{ id: string }[]>`
        select id from edge_groups where tenant = ${tenant} and id = ${id} for update`;
      return row === undefined ? null : this.find(tenant, id, tx);
    },

    /** @returns whether it was changed: false where another has the name */
    async change(tx: Transaction, { id, tenant, name, selector }: GroupRow): Promise<boolean> {
      const [other] = await tx`
        select 1 from edge_groups where tenant = ${tenant} and name = ${name} and id <> ${id}`;
      if (other !== undefined) return false;
      await tx`
        update edge_groups set name = ${name}, selector = ${storedSelector(selector)}::text::jsonb,
          updated_at = clock_timestamp()
        where tenant = ${tenant} and id = ${id}`;
      return true;
    },

    /** Those of the ids that are live hosts of the tenant. */
    async liveHosts(tx: Transaction, tenant: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await tx<{ id: string }[]>`
        select id from edge_hosts
        where tenant = ${tenant} and revoked_at is null and id = any(${texts(ids)}::uuid[])`;
      return new Set(rows.map((row) => row.id));
    },

    async pin(tx: Transaction, groupId: string, hosts: readonly string[]): Promise<void> {
      await tx`delete from edge_group_pins where group_id = ${groupId}`;
      await tx`
        insert into edge_group_pins (group_id, host_id)
        select ${groupId}, host_id from unnest(${texts(hosts)}::uuid[]) as host_id`;
    },

    /** @returns whether there was one */
    async remove(tx: Transaction, tenant: string, id: string): Promise<boolean> {
      const { count } = await tx`delete from edge_groups where tenant = ${tenant} and id = ${id}`;
      return count > 0;
    },
  };
}

const storedSelector = (selector: Selector | null): string | null =>
  selector === null ? null : JSON.stringify(selector);
