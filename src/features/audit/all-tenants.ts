/** Lists that show one tenant's rows, and to the platform's operators those of all tenants. */
import { type Static, Type } from "@sinclair/typebox";
import { isPlatformOperator } from "../../../actors/identity/identity.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Call } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { auditedBy } from "./by.ts";
import type { Audit } from "./service.ts";

/** Members of the query of such a list. */
export const allTenantsQuery = {
  all_tenants: Type.Optional(
    Type.Boolean({ description: "The rows of every tenant; for platform operators, and put on record" }),
  ),
  tenant_id: Type.Optional(
    Type.String({ maxLength: 64, description: "With `all_tenants`: of this tenant alone; ignored without" }),
  ),
};
const AllTenantsQuery = Type.Object(allTenantsQuery);

/** Reads of one operator by one route are put on record once within so long, ms. */
const readsMs = 5 * 60_000;

/** What the reads are put on record with. */
export interface CrossingReads {
  readonly sql: Sql;
  readonly audit: Pick<Audit, "once">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Whose rows a list shows. What reaches beyond the caller's tenant is on record before this resolves.
 * @param list what is read, as the entry names it, such as `security_incidents`
 * @returns a tenant; null: all of them
 * @throws Problem 403 `operator_required` for `all_tenants` from others than platform operators
 */
export async function tenantsShown(
  { sql, audit, now }: CrossingReads,
  list: string,
  call: Call<unknown, Static<typeof AllTenantsQuery>>,
): Promise<string | null> {
  const { identity, query, tenant } = call;
  if (query.all_tenants !== true) return tenant;
  if (!isPlatformOperator(identity)) {
    throw new Problem("operator_required", "Only operators of the platform may look at all tenants");
  }
  const shown = query.tenant_id ?? null;
  const period = Math.floor(now() / readsMs);
  await audit.once(sql, JSON.stringify([list, identity.realm, identity.userId, shown, period]), auditedBy(call), {
    tenant,
    action: "tenant.all_read",
    target: { type: "tenant", id: shown ?? "*" },
    details: { list },
  });
  return shown;
}
