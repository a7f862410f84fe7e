/** Who pays in a call, and what stands before every route of billing (docs/reference/billing.md). */
import { systemTenant } from "../../../actors/identity/identity.ts";
import { tenantKind } from "../../../actors/identity/tenant.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Call } from "../../http/route.ts";
import type { Tenants } from "../../identity/tenants/tenants.ts";

/**
 * The tenant whose subscription a call is about: the effective one; of a team its owner's own.
 * @throws Problem 403 `owner_only` where the caller is not the owner of the team; 404 `tenant_not_found` for a team
 *   without an owner
 */
export async function billingSubject(
  { identity, tenant }: Pick<Call, "identity" | "tenant">,
  tenants: Pick<Tenants, "find">,
): Promise<string> {
  if (tenantKind(tenant) !== "team") return tenant;
  // Operators and service accounts that act in a team count as its owner.
  const isOwner =
    identity.kind === "operator" || identity.kind === "service_account" || identity.membership === "owner";
  if (!isOwner) throw new Problem("owner_only", "Only the owner of the team deals with what it costs");
  const owner = (await tenants.find(tenant))?.ownerTenant ?? null;
  if (owner === null) throw new Problem("tenant_not_found", "The team has no owner any more");
  return owner;
}

/**
 * The same for a call that may cost something.
 * @throws Problem as above; 422 `tenant_not_billable` for the platform's own tenant
 */
export async function payingSubject(
  call: Pick<Call, "identity" | "tenant">,
  tenants: Pick<Tenants, "find">,
): Promise<string> {
  const subject = await billingSubject(call, tenants);
  if (subject === systemTenant) throw new Problem("tenant_not_billable", "The platform's own tenant pays nothing");
  return subject;
}

/** What every route of billing has as `configured`: its refusal comes behind the scope and before the body. */
export const billingGate = (isConfigured: boolean) => (): Problem | null =>
  isConfigured ? null : new Problem("billing_not_configured", "Billing is not configured on this service");
