/** What tenants of tests and benches may use: the tiers' own limits are a few a minute. */
import {
  buckets,
  type RateBucket,
  type RateResource,
  resources,
  unlimited,
} from "../../actors/policy/rates/resources.ts";
import { setOverride } from "../../src/features/limits/overrides.ts";
import type { Sql } from "../../src/store/postgres/pool.ts";

export interface RateChange {
  readonly tenant?: string | null;
  readonly user?: { readonly realm: string; readonly userId: string } | null;
  readonly isConsumer?: boolean;
  readonly resource: RateResource;
  readonly bucket: RateBucket;
  readonly limit: number;
  readonly burst?: number | null;
}

const by = { kind: "system", realm: null, user_id: null, role: null, key_id: null, name: "test" };

/** Sets one override. Nodes that are up see it within 5 s. */
export async function overrideRate(sql: Sql, { tenant = null, user = null, ...change }: RateChange): Promise<void> {
  await setOverride(sql, { burst: null, isConsumer: false, ...change, tenant, user, id: crypto.randomUUID(), by });
}

/** Sets what a tenant and each of its users may use in every bucket of a resource. */
export async function setRates(sql: Sql, tenant: string, resource: RateResource, limit: number): Promise<void> {
  for (const bucket of buckets) await overrideRate(sql, { tenant, resource, bucket, limit });
}

/** Takes every limit off tenants, by the means that an operator has: overrides of -1. Before they use anything. */
export async function liftRates(sql: Sql, ...tenants: readonly string[]): Promise<void> {
  await sql`
    insert into rate_overrides (id, tenant, resource, bucket, limit_value, created_by)
    select gen_random_uuid(), tenant, resource, bucket, ${unlimited}, ${JSON.stringify(by)}::text::jsonb
    from unnest(${[...tenants]}::text[]) tenant, unnest(${[...resources]}::text[]) resource,
      unnest(${[...buckets]}::text[]) bucket
    on conflict do nothing`;
}
