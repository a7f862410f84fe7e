/** The bounds that several volumes share, for what writes to them outside of the file routes. */
import type { TenantTerms } from "../../../../actors/policy/quota.ts";
import { storageQuota } from "../../../../actors/policy/storage-quota.ts";
import type { SharedBound } from "../../../../actors/policy/storage-room.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { VolumeOwner } from "../records.ts";
import { userVolumeRecords } from "../user-records.ts";

/** How long what the records say is taken for true, ms. */
const freshMs = 1_000;

/** @param volumeIds of volumes that one execution writes to; others than those with a record count nowhere */
export type SharedBounds = (tenant: string, volumeIds: readonly string[]) => Promise<readonly SharedBound[]>;

export interface SharedBoundsOptions {
  readonly sql: Sql;
  /** What a tenant may have, as it stands now. */
  readonly terms: (tenant: string) => Promise<TenantTerms>;
}

export function sharedBounds({ sql, terms }: SharedBoundsOptions): SharedBounds {
  const records = userVolumeRecords(sql);
  return async (tenant, volumeIds) => {
    const rows = await records.countedOf(tenant, volumeIds);
    if (rows.length === 0) return [];
    const { userBytes, tenantBytes } = storageQuota(await terms(tenant));
    const countedOf = (some: typeof rows) => new Map(some.map(({ volume_id, used_bytes }) => [volume_id, used_bytes]));
    const owners = new Map(rows.flatMap((row) => (row.owner_user_id === null ? [] : [[keyOf(row), row] as const])));
    const ofUsers = await Promise.all(
      [...owners].map(async ([key, { owner_realm, owner_user_id }]): Promise<SharedBound> => {
        const owner: VolumeOwner = { realm: owner_realm, userId: owner_user_id ?? "", isImplied: owner_realm === null };
        const { userBytes: used } = await records.held(tenant, owner, null);
        const counted = countedOf(rows.filter((row) => row.owner_user_id !== null && keyOf(row) === key));
        return { quota: "user_bytes", limit: userBytes, used, counted };
      }),
    );
    const used = await records.tenantBytes(tenant);
    return [...ofUsers, { quota: "max_storage_gb", limit: tenantBytes, used, counted: countedOf(rows) }];
  };
}

/** The same bounds for a moment, however often they are asked for. */
export function fresh(bounds: () => Promise<readonly SharedBound[]>): () => Promise<readonly SharedBound[]> {
  let known: readonly SharedBound[] = [];
  let at = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - at < freshMs) return known;
    known = await bounds();
    at = performance.now();
    return known;
  };
}

const keyOf = ({ owner_realm, owner_user_id }: { owner_realm: string | null; owner_user_id: string | null }) =>
  JSON.stringify([owner_realm, owner_user_id]);
