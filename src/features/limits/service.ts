/** Overrides of rates as operators set them, and what was used of rates. */

import type { Identity } from "../../../actors/identity/identity.ts";
import { isTenantSlug } from "../../../actors/identity/tenant.ts";
import { notOneOf } from "../../../actors/kernel/nearest.ts";
import { invalidField, Problem } from "../../../actors/kernel/problem.ts";
import { iso } from "../../../actors/kernel/time.ts";
import { isStorable, unusableText } from "../../../actors/manifest/storable.ts";
import { type RateUser, rateUserOf } from "../../../actors/policy/rates/limits.ts";
import { buckets, readBucket, readResource, resources } from "../../../actors/policy/rates/resources.ts";
import { standingIn, usedOf, windowStart } from "../../../actors/policy/rates/usage.ts";
import { listOf, type Page } from "../../http/paging.ts";
import type { Tenants } from "../../identity/tenants/tenants.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Audit, AuditedBy } from "../audit/port.ts";
import { deleteOverride, listOverrides, type NewOverride, type OverrideRow, setOverride } from "./overrides.ts";
import type { OverrideBody, OverrideFilter, RateOverrideRecord, UsageFilter, UsageRecord, UserRate } from "./schema.ts";
import type { Standings } from "./standings.ts";
import { type Balances, readScopeId, scopeId } from "./usage.ts";

export interface RatesOptions {
  readonly sql: Sql;
  readonly audit: Audit;
  readonly standings: Pick<Standings, "of" | "changed">;
  readonly tenants: Pick<Tenants, "find">;
  readonly balances: Balances;
  /** The realm of a tenant's people; of consumers for null. */
  readonly realmOf: (tenant: string | null) => string;
  readonly newId: () => string;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export type Rates = ReturnType<typeof createRates>;

export function createRates(options: RatesOptions) {
  const { sql, audit, standings, balances, realmOf, now } = options;

  /** @throws Problem 422 */
  function readOverride(body: OverrideBody, effective: string, by: AuditedBy): NewOverride {
    const { resource_type, bucket: named, limit_value: limit, burst_value: burst = null } = body;
    const { tenant_id = null, user_id: userId = null, realm: givenRealm = null } = body;
    const resource = readResource(resource_type);
    const bucket = readBucket(named);
    if (resource === null) throw invalidField("resource_type", notOneOf(resource_type, resources));
    if (bucket === null) throw invalidField("bucket", notOneOf(named, buckets));
    if (burst !== null && bucket !== "per_minute") throw invalidField("burst_value", "is of per_minute only");
    if (burst !== null && burst < limit) throw invalidField("burst_value", "may not be below limit_value");
    requireSubject(body);
    const tenant = tenant_id ?? (userId === null ? effective : null);
    const realm = givenRealm ?? realmOf(tenant);
    return {
      id: options.newId(),
      by: by.actor,
      tenant,
      user: userId === null ? null : { realm, userId },
      isConsumer: realm === realmOf(null),
      resource,
      bucket,
      limit,
      burst,
    };
  }

  return {
    async list(filter: OverrideFilter, page: Page) {
      const { tenant_id, user_id, resource_type } = filter;
      const resource = resource_type === undefined ? null : (readResource(resource_type) ?? resource_type);
      const rows = await listOverrides(sql, { tenant: tenant_id ?? null, userId: user_id ?? null, resource }, page);
      const positions = new Map(rows.map(({ id, position }) => [id, position]));
      return listOf("overrides", rows.map(shown), page, ({ id }) => [positions.get(id) ?? "0", id]);
    },

    /** @param effective the caller's tenant, for one that names neither tenant nor user @throws Problem 422 */
    async set(body: OverrideBody, effective: string, by: AuditedBy): Promise<RateOverrideRecord> {
      const override = readOverride(body, effective, by);
      const row = await sql.begin(async (tx) => {
        const set = await setOverride(tx, override);
        await audit.append(tx, by, changeOf("ratelimit.override_set", set, effective));
        return set;
      });
      standings.changed(row.tenant);
      return shown(row);
    },

    /** @throws Problem 404 `override_not_found` */
    async remove(id: string, effective: string, by: AuditedBy): Promise<void> {
      const row = await sql.begin(async (tx) => {
        const deleted = await deleteOverride(tx, id);
        if (deleted === null) throw new Problem("override_not_found", "There is no such override");
        await audit.append(tx, by, changeOf("ratelimit.override_deleted", deleted, effective));
        return deleted;
      });
      standings.changed(row.tenant);
    },

    /** Of a tenant, or of a user of one; of the caller's tenant where neither is named. @throws Problem 422, 503 */
    async usage({ scope_type, scope_id }: UsageFilter, effective: string): Promise<UsageRecord[]> {
      if ((scope_type === undefined) !== (scope_id === undefined)) {
        throw invalidField(scope_type === undefined ? "scope_type" : "scope_id", "both are given or neither");
      }
      const scope = scope_type ?? "tenant";
      const subject = readScopeId(scope, scope_id ?? effective);
      if (subject === null) throw invalidField("scope_id", "must be <tenant>:<realm>:<subject>");
      const { tenant, user } = subject;
      if (!isTenantSlug(tenant) || (await options.tenants.find(tenant)) === null) return [];
      const found = await balances(tenant, user);
      const at = now();
      return found.flatMap((balance): UsageRecord[] => {
        const { limit } = balance;
        if (limit.scope !== scope) return [];
        return [
          {
            scope_type: scope,
            scope_id: scopeId(tenant, user),
            resource_type: limit.resource,
            bucket: limit.bucket,
            window_start: iso(windowStart(limit, at)),
            counter: usedOf(balance),
            limit_value: limit.limit,
          },
        ];
      });
    },

    /** What the caller has used: of a person at both scopes, of a machine at the tenant's. @throws Problem 503 */
    async ownUsage(tenant: string, identity: Identity) {
      const user = rateUserOf(identity);
      const [{ tier }, found] = await Promise.all([standings.of(tenant, user), balances(tenant, user)]);
      const at = now();
      const items = found.map((balance): UserRate => {
        const { resource, bucket, scope, limit } = balance.limit;
        const standing = standingIn(balance, at);
        const owner: RateUser | null = scope === "user" ? user : null;
        return {
          bucket_name: `${resource}.${bucket}`,
          usage_pct: standing.share,
          resource_type: resource,
          bucket,
          scope_type: scope === "user" ? "user" : "tenant",
          scope_id: scopeId(tenant, owner),
          current_count: standing.used,
          limit_value: limit,
          remaining: standing.remaining,
          burst_value: standing.burst,
          window_seconds: standing.windowSeconds,
          window_start: iso(standing.windowStart),
          resets_at: iso(standing.resetsAt),
        };
      });
      return { user_id: identity.userId, tenant_id: tenant, tier, items };
    },
  };
}

/** @throws Problem 422 for a subject that there can be none of */
function requireSubject({ tenant_id, user_id, realm }: OverrideBody): void {
  if (tenant_id !== undefined && !isTenantSlug(tenant_id)) throw invalidField("tenant_id", "is no tenant name");
  for (const [name, text = ""] of Object.entries({ user_id, realm })) {
    if (!isStorable(text)) throw invalidField(name, unusableText);
  }
  if (realm !== undefined && user_id === undefined) throw invalidField("realm", "needs a user_id");
}

function shown(row: OverrideRow): RateOverrideRecord {
  const { kind, realm, user_id } = row.created_by;
  return {
    id: row.id,
    tenant_id: row.tenant,
    realm: row.realm,
    user_id: row.user_id,
    resource_type: row.resource,
    bucket: row.bucket,
    limit_value: Number(row.limit_value),
    burst_value: row.burst_value === null ? null : Number(row.burst_value),
    created_by: { kind, realm, user_id },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** An override of a person in every tenant is on record where the operator acts. */
function changeOf(action: string, row: OverrideRow, effective: string) {
  const { tenant, realm, user_id, resource, bucket, limit_value, burst_value } = row;
  const details = {
    tenant_id: tenant,
    realm,
    user_id,
    resource_type: resource,
    bucket,
    limit_value: Number(limit_value),
    burst_value: burst_value === null ? null : Number(burst_value),
  };
  return { tenant: tenant ?? effective, action, target: { type: "rate_limit_override", id: row.id }, details };
}
