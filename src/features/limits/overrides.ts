/** The table `rate_overrides`. */
import { createHash } from "node:crypto";
import { consumerTenant } from "../../../actors/identity/tenant.ts";
import type { AuditedBy } from "../../../actors/kernel/audit.ts";
import type { RateOverride, RateUser } from "../../../actors/policy/rates/limits.ts";
import { readBucket, readResource } from "../../../actors/policy/rates/resources.ts";
import type { Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

interface LimitColumns {
  readonly tenant: string | null;
  readonly realm: string | null;
  readonly user_id: string | null;
  readonly owns: string | null;
  readonly resource: string;
  readonly bucket: string;
  readonly limit_value: string;
  readonly burst_value: string | null;
}

export interface OverrideRow extends LimitColumns {
  readonly id: string;
  readonly created_by: AuditedBy["actor"];
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Microseconds, for the place in a list; absent outside of lists. */
  readonly position?: string;
}

/** Overrides that may concern a use: of the tenant, of the user there and anywhere, of the tenant's owner. */
export async function overridesFor(sql: Sql, tenant: string, user: RateUser | null): Promise<RateOverride[]> {
  const rows = await sql<LimitColumns[]>`
    select tenant, realm, user_id, owns, resource, bucket, limit_value, burst_value from rate_overrides
    where (tenant = ${tenant} and user_id is null)
      or (realm = ${user?.realm ?? null} and user_id = ${user?.userId ?? null} and (tenant = ${tenant} or tenant is null))
      or (owns = ${tenant} and (tenant = ${tenant} or tenant is null))`;
  return rows.flatMap((row): RateOverride[] => {
    const resource = readResource(row.resource);
    const bucket = readBucket(row.bucket);
    if (resource === null || bucket === null) return [];
    const { tenant, realm, user_id: userId, owns } = row;
    const burst = row.burst_value === null ? null : Number(row.burst_value);
    const user = userId === null || realm === null ? null : { realm, userId };
    return [{ tenant, user, owns, resource, bucket, limit: Number(row.limit_value), burst }];
  });
}

/** An override as it is set; what it concerns is its name. */
export interface NewOverride extends Omit<RateOverride, "owns"> {
  readonly id: string;
  readonly by: AuditedBy["actor"];
  /** Whether the person is of the realm of consumers, who own a tenant each. */
  readonly isConsumer: boolean;
}

/** Sets one, in place of an earlier one of the same name. */
export async function setOverride(
  sql: Sql | Transaction,
  { id, by, tenant, user, isConsumer, resource, bucket, limit, burst }: NewOverride,
): Promise<OverrideRow> {
  const owns = user !== null && isConsumer ? consumerTenant(user.userId, sha256Hex) : null;
  const [row] = await sql<OverrideRow[]>`
    insert into rate_overrides
      (id, tenant, realm, user_id, owns, resource, bucket, limit_value, burst_value, created_by)
    values (${id}, ${tenant}, ${user?.realm ?? null}, ${user?.userId ?? null}, ${owns}, ${resource}, ${bucket},
      ${limit}, ${burst}, ${JSON.stringify(by)}::text::jsonb)
    on conflict (tenant, realm, user_id, resource, bucket) do update
    set limit_value = excluded.limit_value, burst_value = excluded.burst_value, owns = excluded.owns, updated_at = now()
    returning *`;
  return row as OverrideRow;
}

export interface OverrideWanted {
  readonly tenant: string | null;
  readonly userId: string | null;
  readonly resource: string | null;
}

/** Newest first; one row more than the page asks for when there are more. */
export async function listOverrides(
  sql: Sql,
  { tenant, userId, resource }: OverrideWanted,
  { limit, offset, after }: Page,
): Promise<OverrideRow[]> {
  const [position = "", id = ""] = after ?? [];
  // A cursor that was tampered with finds nothing.
  if (after !== null && (!/^\d{1,18}$/.test(position) || !isUuid(id))) return [];
  const behind =
    after === null
      ? sql`true`
      : sql`(created_at, id) < (timestamptz 'epoch' + ${position}::bigint * interval '1 microsecond', ${id}::uuid)`;
  return sql<OverrideRow[]>`
    select *, (extract(epoch from created_at) * 1000000)::bigint::text as position from rate_overrides
    where ${behind} and (${tenant}::text is null or tenant = ${tenant}) and (${userId}::text is null or user_id = ${userId})
      and (${resource}::text is null or resource = ${resource})
    order by created_at desc, id desc limit ${limit + 1} offset ${offset}`;
}

/** @returns what it was; null: there is none of that id */
export async function deleteOverride(tx: Transaction, id: string): Promise<OverrideRow | null> {
  const [row] = await tx<OverrideRow[]>`delete from rate_overrides where id = ${id} returning *`;
  return row ?? null;
}

const sha256Hex = (text: string): string => createHash("sha256").update(text).digest("hex");
