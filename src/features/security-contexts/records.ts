/** The SQL of security contexts, tenant first. */
import { systemTenant } from "../../../actors/identity/identity.ts";
import type { SecurityContextSpec } from "../../../actors/policy/security/spec.ts";
import { isSystemName } from "../../../actors/policy/security/spec.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

export interface ContextRow {
  readonly tenant: string;
  readonly name: string;
  readonly description: string | null;
  readonly spec: SecurityContextSpec;
  readonly usable_by: readonly string[] | null;
  readonly version: number;
  readonly updated_by: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** What a caller says of a context. */
export interface NewContext extends Pick<ContextRow, "name" | "description" | "spec" | "usable_by" | "updated_by"> {
  readonly at: Date;
}

/** Whose record it is: names that begin with `svc-` are the system's, whichever tenant asks. */
export const holderOf = (tenant: string, name: string): string => (isSystemName(name) ? systemTenant : tenant);

export type ContextRecords = ReturnType<typeof contextRecords>;

export function contextRecords(sql: Sql) {
  const columns = sql`tenant, name, description, spec, usable_by, version::double precision as version, updated_by,
    created_at, updated_at`;
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value));

  return {
    async find(tenant: string, name: string, query: Sql | Transaction = sql): Promise<ContextRow | null> {
      const [row] = await query<ContextRow[]>`
        select ${columns} from security_contexts where tenant = ${holderOf(tenant, name)} and name = ${name}`;
      return row ?? null;
    },

    /** For a change within the transaction. */
    async lock(tx: Transaction, tenant: string, name: string): Promise<ContextRow | null> {
      const [row] = await tx<ContextRow[]>`
        select ${columns} from security_contexts
        where tenant = ${holderOf(tenant, name)} and name = ${name} for update`;
      return row ?? null;
    },

    /** The tenant's own and the system's by name, as many as given. */
    list(tenant: string, after: string | null, most: number): Promise<ContextRow[]> {
      const isSystem = sql`starts_with(name, 'svc-')`;
      return sql<ContextRow[]>`
        select ${columns} from security_contexts
        where ((tenant = ${tenant} and not ${isSystem}) or (tenant = ${systemTenant} and ${isSystem}))
          and (${after}::text is null or name > ${after})
        order by name limit ${most}`;
    },

    /** Changes of one tenant's contexts take turns, so that their number is still true when one more is there. */
    exclusively<T>(tenant: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
      return sql.begin(async (tx) => {
        await tx`select pg_advisory_xact_lock(hashtextextended(${`security_contexts ${tenant}`}, 0))`;
        return work(tx);
      }) as Promise<T>;
    },

    async count(tx: Transaction, tenant: string): Promise<number> {
      const [row] = await tx<{ count: number }[]>`
        select count(*)::int as count from security_contexts where tenant = ${tenant}`;
      return row?.count ?? 0;
    },

    /** @param madeBy the piece of work @returns null: there is one of that name, made by another piece of work */
    async create(
      tx: Transaction,
      tenant: string,
      context: NewContext,
      madeBy: string,
    ): Promise<{ readonly row: ContextRow; readonly isNew: boolean } | null> {
      const { name, description, spec, usable_by, updated_by, at } = context;
      const [row] = await tx<ContextRow[]>`
        insert into security_contexts
          (tenant, name, description, spec, usable_by, version, made_by, updated_by, created_at, updated_at)
        values (${holderOf(tenant, name)}, ${name}, ${description}, ${json(spec)}::text::jsonb,
          ${json(usable_by)}::text::jsonb, 1, ${madeBy}, ${updated_by}, ${at}, ${at})
        on conflict (tenant, name) do nothing returning ${columns}`;
      if (row !== undefined) return { row, isNew: true };
      const [earlier] = await tx<ContextRow[]>`
        select ${columns} from security_contexts
        where tenant = ${holderOf(tenant, name)} and name = ${name} and made_by = ${madeBy}`;
      return earlier === undefined ? null : { row: earlier, isNew: false };
    },

    /** Stores the next version; of one that the service brings, the first that is stored. */
    async replace(tx: Transaction, tenant: string, context: NewContext, version: number, madeBy: string) {
      const { name, description, spec, usable_by, updated_by, at } = context;
      const [row] = await tx<[ContextRow]>`
        insert into security_contexts
          (tenant, name, description, spec, usable_by, version, made_by, updated_by, created_at, updated_at)
        values (${holderOf(tenant, name)}, ${name}, ${description}, ${json(spec)}::text::jsonb,
          ${json(usable_by)}::text::jsonb, ${version}, ${madeBy}, ${updated_by}, ${at}, ${at})
        on conflict (tenant, name) do update set description = excluded.description, spec = excluded.spec,
          usable_by = excluded.usable_by, version = excluded.version, updated_by = excluded.updated_by,
          updated_at = excluded.updated_at
        returning ${columns}`;
      return row;
    },

    async remove(tx: Transaction, tenant: string, name: string): Promise<void> {
      await tx`delete from security_contexts where tenant = ${holderOf(tenant, name)} and name = ${name}`;
    },
  };
}
