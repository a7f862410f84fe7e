/** Purges: what a tenant had is erased, feature by feature; its name and its audit log stay. */
import type { Tenants } from "../../identity/tenants/tenants.ts";
import type { Runtime } from "../../runtime/port.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import { type Audit, auditedSystem } from "../audit/port.ts";
import type { TenantErasure, TenantWork } from "../feature.ts";

export interface PurgeOptions {
  readonly sql: Sql;
  readonly tenants: Pick<Tenants, "changed">;
  readonly audit: Audit;
  readonly runtime: Pick<Runtime, "eraseTenant">;
  readonly work: TenantWork;
  readonly report: (event: string, facts: Readonly<Record<string, unknown>>) => void;
  readonly failed: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

/** A step takes seconds; a node that died is given up after so long. */
const claimSeconds = 300;
/** What is not done yet, or failed, is asked again after as many seconds as it was tried, at most these. */
const pauseSeconds = 300;
/** Purges of one round. */
const atOnce = 10;
/** Rows of one statement: none holds locks for long. */
const rowsAtOnce = 2_000;

/** Erases tenants whose time is over. @throws when the database is away; what is left goes next time */
export async function purgeDue(options: PurgeOptions): Promise<void> {
  for (let done = 0; done < atOnce; done++) {
    const tenant = await claim(options.sql);
    if (tenant === null) return;
    await purge(options, tenant);
  }
}

/** One tenant, for this node alone until the claim is over. */
async function claim(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ tenant: string }[]>`
    insert into tenant_purges as p (tenant, claimed_until)
    select t.slug, now() + ${`${claimSeconds} seconds`}::text::interval
    from tenants t left join tenant_purges known on known.tenant = t.slug
    where t.purge_at <= now() and t.purged_at is null and t.status = 'deleted' and t.work_ended_at is not null
      and (known.claimed_until is null or known.claimed_until < now())
    order by t.purge_at limit 1
    on conflict (tenant) do update set claimed_until = excluded.claimed_until, attempts = p.attempts + 1
      where p.claimed_until < now()
    returning tenant`;
  return row?.tenant ?? null;
}

async function purge(options: PurgeOptions, tenant: string): Promise<void> {
  const { sql, work, runtime, failed } = options;
  let step = "";
  try {
    for (const erasure of work.erasures) {
      step = erasure.name;
      await extend(sql, tenant, step);
      if (!(await eraseStep(sql, erasure, tenant))) return await pause(sql, tenant, null);
    }
    step = "runtime";
    await extend(sql, tenant, step);
    if (!(await runtime.eraseTenant(tenant))) return await pause(sql, tenant, null);
    await finish(options, tenant);
  } catch (error) {
    failed("tenant_purge", { tenant, step, error: String(error) });
    await pause(sql, tenant, String(error).slice(0, 2000));
  }
}

/** @returns whether nothing is left */
async function eraseStep(sql: Sql, { tables, erase }: TenantErasure, tenant: string): Promise<boolean> {
  if (erase !== null && !(await erase(tenant))) return false;
  for (const table of tables) {
    for (let count = rowsAtOnce; count === rowsAtOnce; ) {
      ({ count } = await sql`
        delete from ${sql(table)} where ctid = any(array(
          select ctid from ${sql(table)} where tenant = ${tenant} limit ${rowsAtOnce}))`);
    }
  }
  return true;
}

async function extend(sql: Sql, tenant: string, step: string): Promise<void> {
  await sql`
    update tenant_purges set step = ${step}, claimed_until = now() + ${`${claimSeconds} seconds`}::text::interval
    where tenant = ${tenant}`;
}

/** Leaves the purge to the node that comes first after a while. */
async function pause(sql: Sql, tenant: string, error: string | null): Promise<void> {
  await sql`
    update tenant_purges set last_error = ${error},
      claimed_until = now() + least(attempts, ${pauseSeconds}::int) * interval '1 second'
    where tenant = ${tenant}`;
}

/** What is said of the tenant, of its people too, goes last. */
async function finish({ sql, tenants, audit, report }: PurgeOptions, tenant: string): Promise<void> {
  const isDone = await sql.begin(async (tx) => {
    const { count } = await tx`
      update tenants set purged_at = now(), updated_at = now(), display_name = slug, suspend_reason = null,
        owner_email = null, idp_realm = null, vault_namespace = null, admin_tier = null, subscription_tier = null,
        subscription_status = null, subscription_seats = null, subscription_period_end = null,
        claimed_tier = null, claimed_iat = null, team_tier = null, owner_tenant = null,
        max_concurrent_executions = null, max_agents = null, max_storage_gb = null
      where slug = ${tenant} and status = 'deleted' and purged_at is null`;
    await tx`delete from tenant_purges where tenant = ${tenant}`;
    if (count === 0) return false;
    await forgetUsers(tx, tenant);
    const target = { type: "tenant", id: tenant };
    await audit.append(tx, auditedSystem("purge"), { tenant, action: "tenant.purged", target, details: {} });
    return true;
  });
  tenants.changed(tenant);
  if (isDone) report("tenant_purged", { tenant });
}

/** The people of its own realm; of a consumer's tenant, the consumer (`consumerTenant` of actors/identity/tenant.ts). */
async function forgetUsers(tx: Transaction, tenant: string): Promise<void> {
  if (!tenant.startsWith("u-")) {
    await tx`delete from users where realm = ${`tenant-${tenant}`}`;
    return;
  }
  await tx`
    delete from users where kind = 'consumer' and (
      'u-' || lower(replace(user_id, '-', '')) = ${tenant}
      or 'u-' || left(encode(sha256(convert_to(user_id, 'UTF8')), 'hex'), 32) = ${tenant})`;
}
