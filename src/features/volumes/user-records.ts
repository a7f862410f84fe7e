/** The SQL of volumes as their users see them, tenant first. */
import type { Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import { ownedBy, type Visibility, type VolumeOwner, type VolumeRow } from "./records.ts";
import type { ChangeBody } from "./schema.ts";

/** What is held at a moment, for quotas. */
export interface Held {
  readonly volumes: number;
  readonly userBytes: number;
  readonly tenantBytes: number;
  /** Of the volume that was asked about. */
  readonly volumeBytes: number;
}

export function userVolumeRecords(sql: Sql) {
  const columns = sql`volume_id, tenant, kind, label, owner_realm, owner_user_id, visibility,
    size_limit_bytes::double precision as size_limit_bytes, used_bytes::double precision as used_bytes,
    file_count::double precision as file_count,
    measured, created_at, updated_at`;
  const shown = (tenant: string, { all, owner }: Visibility, label: string | null) => sql`
    tenant = ${tenant} and kind <> 'run' and deleted_at is null
    and (${all} or visibility = 'tenant' or ${ownedBy(sql, owner)}) and (${label}::text is null or label = ${label})`;
  return {
    /** Oldest first; one row more than the page asks for when there are more. */
    async list(tenant: string, who: Visibility, label: string | null, { limit, offset, after }: Page) {
      const [position = "", id = ""] = after ?? [];
      // A cursor that was tampered with finds nothing.
      if (after !== null && (!/^\d{1,18}$/.test(position) || !isUuid(id))) return [];
      const from =
        after === null
          ? sql`true`
          : sql`(created_at, volume_id) >
              (timestamptz 'epoch' + ${position}::bigint * interval '1 microsecond', ${id}::uuid)`;
      return sql<(VolumeRow & { position: string })[]>`
        select ${columns}, (extract(epoch from created_at) * 1000000)::bigint::text as position
        from volumes where ${shown(tenant, who, label)} and ${from}
        order by created_at, volume_id limit ${limit + 1} offset ${offset}`;
    },

    async count(tenant: string, who: Visibility, label: string | null): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from volumes where ${shown(tenant, who, label)}`;
      return row?.count ?? 0;
    },

    /**
     * Runs a change that a quota is about; changes of one tenant take turns, so that what was counted is still true
     * when the change is there.
     */
    exclusively<T>(tenant: string, work: (transaction: Transaction) => Promise<T>): Promise<T> {
      return sql.begin(async (transaction) => {
        await transaction`select pg_advisory_xact_lock(hashtextextended(${`volumes ${tenant}`}, 0))`;
        return work(transaction);
      }) as Promise<T>;
    },

    /** @param volumeId null: no volume in particular */
    async held(
      tenant: string,
      owner: VolumeOwner,
      volumeId: string | null,
      query: Sql | Transaction = sql,
    ): Promise<Held> {
      const [row] = await query<Held[]>`
        select count(*) filter (where kind = 'user' and ${ownedBy(sql, owner)})::int as volumes,
          coalesce(sum(used_bytes) filter (where ${ownedBy(sql, owner)}), 0)::double precision as "userBytes",
          coalesce(sum(used_bytes), 0)::double precision as "tenantBytes",
          coalesce(sum(used_bytes) filter (where volume_id = ${volumeId}::uuid), 0)::double precision as "volumeBytes"
        from volumes where tenant = ${tenant} and (kind <> 'run' or workflow is not null) and deleted_at is null`;
      return row ?? { volumes: 0, userBytes: 0, tenantBytes: 0, volumeBytes: 0 };
    },

    /** Of the given volumes, those that count in the quotas, and what they hold by the records. */
    countedOf(
      tenant: string,
      volumeIds: readonly string[],
    ): Promise<Pick<VolumeRow, "volume_id" | "owner_realm" | "owner_user_id" | "used_bytes">[]> {
      return sql<Pick<VolumeRow, "volume_id" | "owner_realm" | "owner_user_id" | "used_bytes">[]>`
        select volume_id, owner_realm, owner_user_id, used_bytes::double precision as used_bytes from volumes
        where tenant = ${tenant} and volume_id = any(${[...volumeIds]}::uuid[])
          and (kind <> 'run' or workflow is not null) and deleted_at is null`;
    },

    /** Bytes in all volumes of the tenant. */
    async tenantBytes(tenant: string): Promise<number> {
      const [row] = await sql<{ bytes: number }[]>`
        select coalesce(sum(used_bytes), 0)::double precision as bytes
        from volumes where tenant = ${tenant} and (kind <> 'run' or workflow is not null) and deleted_at is null`;
      return row?.bytes ?? 0;
    },

    /** @returns false when the owner has a volume of that label */
    async create(
      transaction: Transaction,
      tenant: string,
      volume: { id: string; owner: VolumeOwner; label: string; sizeLimit: number; visibility: string },
    ): Promise<boolean> {
      const rows = await transaction`
        insert into volumes (volume_id, tenant, kind, label, owner_realm, owner_user_id, visibility, size_limit_bytes)
        values (${volume.id}, ${tenant}, 'user', ${volume.label}, ${volume.owner.realm}, ${volume.owner.userId},
          ${volume.visibility}, ${volume.sizeLimit})
        on conflict do nothing returning 1`;
      return rows.length > 0;
    },

    /** @param changed called in the same transaction @returns false when the owner has another volume of that label */
    async change(
      tenant: string,
      volumeId: string,
      { label, size_limit_bytes, visibility }: ChangeBody,
      changed: (tx: Transaction) => Promise<void>,
    ) {
      try {
        await sql.begin(async (tx) => {
          await tx`
          update volumes set label = coalesce(${label ?? null}, label),
            size_limit_bytes = coalesce(${size_limit_bytes ?? null}::bigint, size_limit_bytes),
            visibility = coalesce(${visibility ?? null}, visibility), updated_at = now()
          where tenant = ${tenant} and volume_id = ${volumeId}`;
          await changed(tx);
        });
        return true;
      } catch (error) {
        if ((error as { code?: unknown }).code === "23505") return false;
        throw error;
      }
    },

    /** @param deleted called in the same transaction, unless it is deleted already */
    async markDeleted(tenant: string, volumeId: string, deleted: (tx: Transaction) => Promise<void>): Promise<void> {
      await sql.begin(async (tx) => {
        const { count } = await tx`
          update volumes set deleted_at = now()
          where tenant = ${tenant} and volume_id = ${volumeId} and deleted_at is null`;
        if (count > 0) await deleted(tx);
      });
    },

    async grow(transaction: Transaction, tenant: string, volumeId: string, bytes: number, files: number) {
      await transaction`
        update volumes set used_bytes = greatest(0, used_bytes + ${bytes}::bigint),
          file_count = greatest(0, file_count + ${files}::int), updated_at = now()
        where tenant = ${tenant} and volume_id = ${volumeId}`;
    },

    /** What it holds has to be measured again. */
    async doubt(tenant: string, volumeId: string): Promise<void> {
      await sql`
        update volumes set measured = false, updated_at = now() where tenant = ${tenant} and volume_id = ${volumeId}`;
    },
  };
}
