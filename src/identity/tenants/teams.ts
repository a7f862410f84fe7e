/** Teams as tenants: what may be done in one by its state, and by the plan of its owner. */
import { isBelowBusiness } from "../../../actors/identity/standing.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { requireActive, type Tenant } from "./tenants.ts";

/**
 * What may be done in a tenant by its state: nothing in a deleted one, little in a suspended one and in a team whose
 * owner's plan has no teams. The latter is computed from the tier of this moment and kept nowhere.
 * @param little whether what is asked for is part of that little
 * @throws Problem 402 `colony_suspended`, 403 `tenant_suspended`, `tenant_deleted`
 */
export function requireOpen(tenant: Tenant, little: boolean): void {
  if (!(little && tenant.status === "suspended")) requireActive(tenant.status);
  if (little || tenant.kind !== "team" || !isPlanSuspended(tenant)) return;
  throw new Problem("colony_suspended", "The plan of the team's owner has no teams", {
    team_id: teamId(tenant.slug),
    tenant_id: tenant.slug,
    reason: "owner_subscription_below_business",
    remediation: "The owner of the team needs the tier business or enterprise",
  });
}

/** Whether a team stands still because its owner's tier is too low. */
export const isPlanSuspended = ({ kind, ownerTier }: Tenant): boolean => kind === "team" && isBelowBusiness(ownerTier);

/** `t-<uuid>` → the uuid. */
export const teamId = (slug: string): string => slug.slice("t-".length);
