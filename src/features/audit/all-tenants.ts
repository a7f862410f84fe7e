/** Lists that operators of the platform may read of all tenants at once, with each look on record. */
import { Type } from "@sinclair/typebox";
import { isPlatformOperator } from "../../../actors/identity/identity.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Call } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type AuditedCall, auditedBy } from "./audited-by.ts";
import type { Audit } from "./service.ts";

/** Members for the query of such a list: `Type.Object({ ...pagingQuery, ...allTenantsQuery, … })`. */
export const allTenantsQuery = {
  all_tenants: Type.Optional(
    Type.Boolean({ description: "Rows of all tenants, for operators of the platform; put on record" }),
  ),
  tenant_id: Type.Optional(Type.String({ maxLength: 100, description: "Only this tenant's, with all_tenants" })),
};

/** A call of such a list. */
interface AllTenantsCall extends AuditedCall, Pick<Call, "tenant" | "path" | "warnings"> {
  readonly query: { readonly all_tenants?: boolean; readonly tenant_id?: string };
}

export interface AllTenantsReads {
  /**
   * Whose rows the call gets: a tenant's, or null for those of all tenants. A look beyond the effective tenant has its
   * entry in the audit log before this resolves; those of one actor at one route and tenant within five minutes share it.
   * @throws Problem 403 `operator_required` for a caller who is no operator of the platform but asks for all tenants
   */
  tenantRead(call: AllTenantsCall): Promise<string | null>;
}

export interface AllTenantsOptions {
  readonly sql: Sql;
  readonly audit: Pick<Audit, "once">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Looks of one actor have one entry within so long. */
const looksMs = 5 * 60_000;

export function createAllTenantsReads({ sql, audit, now }: AllTenantsOptions): AllTenantsReads {
  return {
    async tenantRead(call) {
      const { identity, tenant, path, query } = call;
      const { all_tenants = false, tenant_id = null } = query;
      if (!all_tenants) {
        if (tenant_id !== null) call.warnings.push(withoutEffect);
        return tenant;
      }
      if (!isPlatformOperator(identity)) {
        throw new Problem("operator_required", "Only operators of the platform may read all tenants' records");
      }
      const period = Math.floor(now() / looksMs);
      const { realm, userId, keyId } = identity;
      await audit.once(sql, JSON.stringify([realm, userId, keyId, path, tenant_id, period]), auditedBy(call), {
        tenant,
        action: "all_tenants.read",
        target: { type: "tenant", id: tenant_id ?? "*" },
        details: { route: path },
      });
      return tenant_id;
    },
  };
}

const withoutEffect = {
  path: "tenant_id",
  code: "unknown_parameter",
  message: "This parameter has no effect without all_tenants=true",
} as const;
