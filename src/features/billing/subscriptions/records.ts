/** The SQL of customers and subscriptions. A subscription's row is actors/billing/standing.ts, flat. */

import type { Interval, PaidTier } from "../../../../actors/billing/catalogue.ts";
import { graceEndsAt, type Subscription, seatCount, tierInForce } from "../../../../actors/billing/standing.ts";
import type { Tier } from "../../../../actors/identity/identity.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";

/** A subscription as it is stored. */
export interface StoredSubscription extends Subscription {
  readonly tenant: string;
  /** Raised by every change. */
  readonly revision: number;
  readonly updatedAt: Date;
}

interface Row {
  readonly subscription_id: string;
  readonly tenant: string;
  readonly customer_id: string;
  readonly created_at: Date;
  readonly status: string;
  readonly tier: PaidTier | null;
  readonly billing_interval: Interval | null;
  readonly base_item_id: string | null;
  readonly base_price_id: string | null;
  readonly seat_item_id: string | null;
  readonly seat_price_id: string | null;
  readonly included_seats: number;
  readonly extra_seats: number;
  readonly current_period_end: Date | null;
  readonly cancel_at_period_end: boolean;
  readonly schedule_id: string | null;
  readonly pending_tier: Tier | null;
  readonly pending_at: Date | null;
  // PostgreSQL's bigint arrives as text.
  readonly applied_event_at: string | null;
  readonly read_at: string | null;
  readonly failed_at: readonly string[];
  readonly in_order_at: string | null;
  readonly revision: string;
  readonly updated_at: Date;
}

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000);
const dateOf = (at: number | null): Date | null => (at === null ? null : new Date(at * 1000));
const orNull = <T, R>(value: T | null, of: (value: T) => R): R | null => (value === null ? null : of(value));

function stored(row: Row): StoredSubscription {
  const { pending_tier, pending_at } = row;
  return {
    facts: {
      id: row.subscription_id,
      customer: row.customer_id,
      created: seconds(row.created_at),
      status: row.status,
      tier: row.tier,
      interval: row.billing_interval,
      baseItem: row.base_item_id,
      basePrice: row.base_price_id,
      seatItem: row.seat_item_id,
      seatPrice: row.seat_price_id,
      includedSeats: row.included_seats,
      extraSeats: row.extra_seats,
      periodEnd: orNull(row.current_period_end, seconds),
      cancelAtPeriodEnd: row.cancel_at_period_end,
      schedule: row.schedule_id,
      pending: pending_tier === null || pending_at === null ? null : { tier: pending_tier, at: seconds(pending_at) },
    },
    appliedAt: orNull(row.applied_event_at, Number),
    readAt: orNull(row.read_at, Number),
    failedAt: row.failed_at.map(Number),
    inOrderAt: orNull(row.in_order_at, Number),
    tenant: row.tenant,
    revision: Number(row.revision),
    updatedAt: row.updated_at,
  };
}

/** All of a tenant, ended ones included. */
export async function subscriptionsOfTenant(sql: Sql | Transaction, tenant: string): Promise<StoredSubscription[]> {
  const rows = await sql<Row[]>`select * from billing_subscriptions where tenant = ${tenant}`;
  return rows.map(stored);
}

/** By the provider's id alone, for what the provider tells: the tenant is what is to be found. */
export async function subscriptionById(sql: Sql | Transaction, id: string): Promise<StoredSubscription | null> {
  const [row] = await sql<Row[]>`select * from billing_subscriptions where subscription_id = ${id}`;
  return row === undefined ? null : stored(row);
}

/**
 * Stores a subscription of the tenant.
 * @param now Unix seconds
 * @throws Error where it is another tenant's
 */
export async function putSubscription(
  tx: Transaction,
  tenant: string,
  given: Subscription,
  now: number,
): Promise<void> {
  const { facts } = given;
  const { count } = await tx`
    insert into billing_subscriptions as known (subscription_id, tenant, customer_id, created_at, status, tier,
      billing_interval, base_item_id, base_price_id, seat_item_id, seat_price_id, included_seats, extra_seats,
      current_period_end, cancel_at_period_end, schedule_id, pending_tier, pending_at, applied_event_at, read_at,
      failed_at, in_order_at, grace_ends_at, is_live)
    values (${facts.id}, ${tenant}, ${facts.customer}, ${dateOf(facts.created)}, ${facts.status}, ${facts.tier},
      ${facts.interval}, ${facts.baseItem}, ${facts.basePrice}, ${facts.seatItem}, ${facts.seatPrice},
      ${facts.includedSeats}, ${facts.extraSeats}, ${dateOf(facts.periodEnd)}, ${facts.cancelAtPeriodEnd},
      ${facts.schedule}, ${facts.pending?.tier ?? null}, ${dateOf(facts.pending?.at ?? null)}, ${given.appliedAt},
      ${given.readAt}, ${`{${given.failedAt.join(",")}}`}::text::bigint[], ${given.inOrderAt}, ${dateOf(graceEndsAt(given))},
      ${tierInForce(given, now) !== "free"})
    on conflict (subscription_id) do update set
      customer_id = excluded.customer_id, created_at = excluded.created_at, status = excluded.status,
      tier = excluded.tier, billing_interval = excluded.billing_interval, base_item_id = excluded.base_item_id,
      base_price_id = excluded.base_price_id, seat_item_id = excluded.seat_item_id,
      seat_price_id = excluded.seat_price_id, included_seats = excluded.included_seats,
      extra_seats = excluded.extra_seats, current_period_end = excluded.current_period_end,
      cancel_at_period_end = excluded.cancel_at_period_end, schedule_id = excluded.schedule_id,
      pending_tier = excluded.pending_tier, pending_at = excluded.pending_at,
      applied_event_at = excluded.applied_event_at, read_at = excluded.read_at, failed_at = excluded.failed_at,
      in_order_at = excluded.in_order_at, grace_ends_at = excluded.grace_ends_at, is_live = excluded.is_live,
      revision = known.revision + 1, updated_at = now()
    where known.tenant = excluded.tenant`;
  if (count === 0) throw new Error(`the subscription ${facts.id} is another tenant's`);
}

/** What is written of a subscription into its tenant's row. */
export interface TenantColumns {
  readonly tier: Tier | null;
  readonly shown: Subscription | null;
  readonly isLive: boolean;
}

/** @returns whether anything of it changed */
export async function putTenantColumns(
  tx: Transaction,
  tenant: string,
  { tier, shown, isLive }: TenantColumns,
): Promise<boolean> {
  const seats = shown !== null && isLive ? seatCount(shown.facts) : null;
  const ends = shown !== null && isLive ? dateOf(shown.facts.periodEnd) : null;
  const status = shown?.facts.status ?? null;
  const { count } = await tx`
    update tenants set subscription_tier = ${tier}, subscription_seats = ${seats}, subscription_period_end = ${ends},
      subscription_status = ${status}
    where slug = ${tenant} and (subscription_tier, subscription_seats, subscription_period_end, subscription_status)
      is distinct from (${tier}::text, ${seats}::integer, ${ends}::timestamptz, ${status}::text)`;
  return count > 0;
}

export interface LockedTenant {
  readonly isDeleted: boolean;
  readonly isPurged: boolean;
  readonly subscriptionTier: Tier | null;
}

/** No other change of the tenant's subscriptions comes between until the transaction ends. Null: there is no such tenant. */
export async function lockTenant(tx: Transaction, tenant: string): Promise<LockedTenant | null> {
  const [row] = await tx<{ status: string; purged_at: Date | null; subscription_tier: Tier | null }[]>`
    select status, purged_at, subscription_tier from tenants where slug = ${tenant} for update`;
  if (row === undefined) return null;
  return {
    isDeleted: row.status === "deleted",
    isPurged: row.purged_at !== null,
    subscriptionTier: row.subscription_tier,
  };
}

/** Tenants with a subscription whose grace is over, or about to be told so. */
export async function tenantsPastGrace(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ tenant: string }[]>`
    select distinct tenant from (select tenant from billing_subscriptions
      where is_live and grace_ends_at is not null and grace_ends_at <= now() limit ${limit}) as due`;
  return rows.map(({ tenant }) => tenant);
}

/** The provider's id of a tenant; null: it is no customer. */
export async function customerOf(sql: Sql | Transaction, tenant: string): Promise<string | null> {
  const [row] = await sql<{ customer_id: string }[]>`
    select customer_id from billing_customers where tenant = ${tenant}`;
  return row?.customer_id ?? null;
}

export async function tenantOfCustomer(sql: Sql | Transaction, customer: string): Promise<string | null> {
  const [row] = await sql<{ tenant: string }[]>`
    select tenant from billing_customers where customer_id = ${customer}`;
  return row?.tenant ?? null;
}

/**
 * Makes a customer the tenant's. The first one of a tenant stays; what was told of the customer before it was known is
 * worked through again.
 * @returns the tenant's customer
 */
export async function linkCustomer(tx: Transaction, tenant: string, customer: string): Promise<string> {
  const { count } = await tx`
    insert into billing_customers (tenant, customer_id) values (${tenant}, ${customer}) on conflict do nothing`;
  if (count > 0) {
    await lockLink(tx, customer);
    await tx`
      update billing_events set state = 'received', attempts = 0, due_at = now(), settled_at = null
      where customer_id = ${customer} and state = 'unmatched'`;
  }
  return (await customerOf(tx, tenant)) ?? customer;
}

/** What is left as unmatched and what links its customer do not miss each other. */
const lockLink = (tx: Transaction, customer: string) =>
  tx`select pg_advisory_xact_lock(hashtextextended(${`billing customer ${customer}`}, 0))`;

/**
 * Until the transaction ends the customer is not linked.
 * @param known whose it was known to be; null: of none
 * @throws Error where it was linked meanwhile
 */
export async function requireUnlinked(tx: Transaction, customer: string, known: string | null): Promise<void> {
  await lockLink(tx, customer);
  const tenant = await tenantOfCustomer(tx, customer);
  if (tenant !== null && tenant !== known) throw new Error(`the customer ${customer} was linked meanwhile`);
}
