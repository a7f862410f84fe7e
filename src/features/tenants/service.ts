/** Tenants as platform operators make, change and end them. Every change is on record, in the transaction that makes it. */
import { systemTenant } from "../../../actors/identity/identity.ts";
import { isEnterpriseSlug, isTenantSlug } from "../../../actors/identity/tenant.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { invalidField, Problem } from "../../../actors/kernel/problem.ts";
import type { Keys } from "../../identity/callers/api-keys.ts";
import { numberOf } from "../../identity/tenants/tenant-terms.ts";
import type { Tenants } from "../../identity/tenants/tenants.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import { type Audit, type AuditedCall, auditedBy } from "../audit/port.ts";
import {
  activateTenant,
  changeTenant,
  deleteTenant,
  insertTenant,
  isFolderTaken,
  listTenants,
  lockedTenant,
  suspendTenant,
  type TenantColumns,
  type TenantRow,
  tenantRow,
} from "./records.ts";
import type { NewTenant, TenantBody, TenantChange, TenantsQuery } from "./schema.ts";
import { tenantBody } from "./wire.ts";

/** A deleted tenant can be restored for so long; then it is erased. */
const purgeDays = 30;
/** Rows looked at by one statement of a list. */
const rowsAtOnce = 500;

export interface TenantServiceOptions {
  readonly sql: Sql;
  readonly tenants: Pick<Tenants, "changed">;
  readonly audit: Audit;
  readonly keys: Pick<Keys, "revokeOf" | "changed">;
  /** Called behind the deletion: what is under way is to end now. Must not throw. */
  readonly deleted: () => void;
  /** Called behind the end of a suspension or deletion: what was held goes on. Must not throw. */
  readonly activated: (tenant: string) => void;
}

export type TenantService = ReturnType<typeof createTenantService>;

export function createTenantService({ sql, tenants, audit, keys, deleted, activated }: TenantServiceOptions) {
  /**
   * Changes a tenant that there is, with its entry of the audit log.
   * @param act answers with the action's name and details; null: nothing was to change
   * @throws Problem 404 `tenant_not_found`
   */
  async function changing(
    call: AuditedCall,
    slug: string,
    act: (tx: Transaction, row: TenantRow) => Promise<{ action: string; details: { [key: string]: Json } } | null>,
  ): Promise<TenantRow> {
    const row = await sql.begin(async (tx) => {
      const found = await lockedTenant(tx, slug);
      if (found === null) throw notFound();
      const done = await act(tx, found);
      if (done === null) return found;
      const target = { type: "tenant", id: slug };
      const { action, details } = done;
      await audit.append(tx, auditedBy(call), { tenant: slug, action: `tenant.${action}`, target, details });
      return existing(await tenantRow(tx, slug));
    });
    tenants.changed(slug);
    return row;
  }

  /**
   * Deletes a tenant that is not deleted, in a transaction that puts it on record: its API keys end with it, what is under
   * way is cancelled behind it, and after its time it is erased.
   * @returns what is to be called after the commit
   */
  async function end(tx: Transaction, slug: string): Promise<() => void> {
    await deleteTenant(tx, slug, purgeDays);
    const ended = await keys.revokeOf(tx, { tenant: slug });
    return () => {
      tenants.changed(slug);
      keys.changed(ended);
      deleted();
    };
  }

  return {
    /** @throws Problem 409 `tenant_exists`, 422 `invalid_tenant_slug`, `reserved_slug`, `validation_failed` */
    async create(call: AuditedCall, wanted: NewTenant): Promise<TenantBody> {
      const { slug, display_name, tier = null, quotas = {} } = wanted;
      if (!isTenantSlug(slug)) throw new Problem("invalid_tenant_slug", "This is no tenant name", {}, {}, 422);
      if (!isEnterpriseSlug(slug)) throw new Problem("reserved_slug", "Names of this form are made by the service");
      const columns: TenantColumns = {
        display_name,
        admin_tier: tier,
        max_concurrent_executions: quotas.max_concurrent_executions ?? null,
        max_agents: quotas.max_agents ?? null,
        max_storage_gb: quotas.max_storage_gb ?? null,
        owner_email: wanted.owner_email ?? null,
        idp_realm: wanted.idp_realm ?? null,
        vault_namespace: wanted.vault_namespace ?? null,
      };
      const row = await sql.begin(async (tx) => {
        if (!(await insertTenant(tx, slug, columns))) {
          throw new Problem("tenant_exists", "There is, or there was, a tenant of this name");
        }
        await requireOwnFolder(tx, slug, columns.vault_namespace);
        const target = { type: "tenant", id: slug };
        const details = { display_name, tier, quotas: { ...quotas }, owner_email: columns.owner_email };
        await audit.append(tx, auditedBy(call), { tenant: slug, action: "tenant.created", target, details });
        return existing(await tenantRow(tx, slug));
      });
      tenants.changed(slug);
      return tenantBody(row);
    },

    /** By slug, one more than `limit` where there are more. */
    async list(filter: Omit<TenantsQuery, "limit" | "cursor">, after: string, limit: number): Promise<TenantBody[]> {
      const found: TenantBody[] = [];
      for (let last = after; ; ) {
        const rows = await listTenants(sql, filter, last, filter.tier === undefined ? limit + 1 : rowsAtOnce);
        const bodies = rows.map(tenantBody);
        found.push(...bodies.filter(({ tier }) => filter.tier === undefined || tier === filter.tier));
        const isAll = filter.tier === undefined || rows.length < rowsAtOnce;
        if (isAll || found.length > limit) return found.slice(0, limit + 1);
        last = rows.at(-1)?.slug ?? last;
      }
    },

    /** @throws Problem 404 `tenant_not_found` */
    async get(slug: string): Promise<TenantBody> {
      return tenantBody(existing(await tenantRow(sql, slug)));
    },

    /** @throws Problem 403 `tenant_protected`, 404, 409 `invalid_state` for a deleted one */
    async change(call: AuditedCall, slug: string, change: TenantChange): Promise<TenantBody> {
      const row = await changing(call, slug, async (tx, before) => {
        const { display_name = before.display_name, tier, quotas = {}, owner_email } = change;
        // Its standing is the platform's own, and it has no owner.
        const isOfStanding = tier !== undefined || owner_email !== undefined || Object.keys(quotas).length > 0;
        if (isOfStanding) requireUnprotected(slug);
        if (before.status === "deleted") throw wrongState(before);
        const quota = (name: keyof typeof quotas): number | null => {
          const set = quotas[name];
          return set === undefined ? numberOf(before[name]) : set;
        };
        await changeTenant(tx, slug, {
          display_name,
          admin_tier: tier === undefined ? before.admin_tier : tier,
          max_concurrent_executions: quota("max_concurrent_executions"),
          max_agents: quota("max_agents"),
          max_storage_gb: quota("max_storage_gb"),
          owner_email: owner_email === undefined ? before.owner_email : owner_email,
          idp_realm: before.idp_realm,
          vault_namespace: before.vault_namespace,
        });
        return { action: "updated", details: { ...change, ...(change.quotas && { quotas: { ...quotas } }) } };
      });
      return tenantBody(row);
    },

    /** Repeatable. @throws Problem 403 `tenant_protected`, 404, 409 `invalid_state` for a deleted one */
    async suspend(call: AuditedCall, slug: string, reason: string | null): Promise<void> {
      await changing(call, slug, async (tx, { status, ...row }) => {
        requireUnprotected(slug);
        if (status === "deleted") throw wrongState({ status, ...row });
        if (status === "suspended") return null;
        await suspendTenant(tx, slug, reason);
        return { action: "suspended", details: { reason } };
      });
    },

    /** Repeatable. @throws Problem 404, 409 `invalid_state` for a deleted one */
    async resume(call: AuditedCall, slug: string): Promise<void> {
      await changing(call, slug, async (tx, row) => {
        if (row.status === "deleted") throw wrongState(row);
        if (row.status === "active") return null;
        await activateTenant(tx, slug);
        return { action: "resumed", details: {} };
      });
      activated(slug);
    },

    end,

    /** Repeatable: the first one counts. @throws Problem 403 `tenant_protected`, 404 */
    async remove(call: AuditedCall, slug: string): Promise<TenantBody> {
      let told = () => {};
      const row = await changing(call, slug, async (tx, { status }) => {
        requireUnprotected(slug);
        if (status === "deleted") return null;
        told = await end(tx, slug);
        return { action: "deleted", details: { purge_after_days: purgeDays } };
      });
      told();
      return tenantBody(row);
    },

    /** Repeatable. @throws Problem 404, 409 `invalid_state` for a suspended one, 410 `tenant_purged` */
    async restore(call: AuditedCall, slug: string): Promise<TenantBody> {
      const row = await changing(call, slug, async (tx, before) => {
        if (before.is_purged) throw new Problem("tenant_purged", "The tenant was erased");
        if (before.status === "suspended") throw wrongState(before);
        if (before.status === "active") return null;
        await activateTenant(tx, slug);
        return { action: "restored", details: {} };
      });
      activated(slug);
      return tenantBody(row);
    },
  };
}

/** @throws Problem 403 `tenant_protected` for the platform's own tenant */
function requireUnprotected(slug: string): void {
  if (slug === systemTenant) throw new Problem("tenant_protected", "The platform's own tenant is protected");
}

function existing(row: TenantRow | null): TenantRow {
  if (row === null) throw notFound();
  return row;
}

const notFound = (): Problem => new Problem("tenant_not_found", "Tenant not found");

const wrongState = ({ status }: Pick<TenantRow, "status">): Problem =>
  new Problem("invalid_state", `The tenant is ${status}`, { status });

/**
 * In one folder of the vault, or one within the other, tenants would read each other's secrets, and the purge of one
 * would erase both's.
 * @throws Problem 422 `validation_failed`
 */
async function requireOwnFolder(tx: Transaction, slug: string, namespace: string | null): Promise<void> {
  const parts = (namespace ?? "").split("/").filter((part) => part !== "");
  const [first] = parts;
  if (first === undefined) return;
  // Every tenant's usual one begins so.
  const isForeign = first.startsWith("tenant-") && first !== `tenant-${slug}`;
  if (isForeign || (await isFolderTaken(tx, slug, parts.join("/"))))
    throw invalidField("vault_namespace", "is, holds or lies in the folder of another tenant");
}
