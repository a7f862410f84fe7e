/** The table `rate_limit_overrides`. */
import {
  buckets,
  type RateBucket,
  type RateOverride,
  type RateResource,
  resources,
} from "../../../actors/policy/rates/limits.ts";
import type { Sql } from "../../store/postgres/pool.ts";

interface Row {
  readonly tenant: string | null;
  readonly user_id: string | null;
  readonly resource: string;
  readonly bucket: string;
  readonly limit_value: string;
  readonly burst_value: string | null;
}

/** Overrides that may concern a use: of the tenant, and of the user in any tenant. */
export async function overridesFor(sql: Sql, tenant: string, userId: string | null): Promise<RateOverride[]> {
  const rows = await sql<Row[]>`
    select tenant, user_id, resource, bucket, limit_value, burst_value from rate_limit_overrides
    where (tenant = ${tenant} or tenant is null) and (user_id is null or user_id = ${userId})`;
  return rows.flatMap((row): RateOverride[] => {
    const resource = resources.find((one) => one === row.resource);
    const bucket = buckets.find((one) => one === row.bucket);
    if (resource === undefined || bucket === undefined) return [];
    const burst = row.burst_value === null ? null : Number(row.burst_value);
    return [{ tenant: row.tenant, user: row.user_id, resource, bucket, limit: Number(row.limit_value), burst }];
  });
}

/** Sets one, in place of an earlier one of the same name. */
export async function setOverride(
  sql: Sql,
  id: string,
  { tenant, user, resource, bucket, limit, burst }: RateOverride & { resource: RateResource; bucket: RateBucket },
): Promise<void> {
  await sql`
    insert into rate_limit_overrides (id, tenant, user_id, resource, bucket, limit_value, burst_value)
    values (${id}, ${tenant}, ${user}, ${resource}, ${bucket}, ${limit}, ${burst})
    on conflict (tenant, user_id, resource, bucket) do update
    set limit_value = excluded.limit_value, burst_value = excluded.burst_value`;
}
