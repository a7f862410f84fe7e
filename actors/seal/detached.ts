/** The security context of callers who act outside of an execution and name none. */
import type { Identity, Tier } from "../identity/identity.ts";

/** @param tier of the tenant */
export function detachedContext(caller: Pick<Identity, "kind">, tier: Tier | "system"): string {
  if (caller.kind === "operator" || caller.kind === "service_account") return "svc-system-operator";
  if (caller.kind === "tenant_user" || tier === "system") return "svc-consumer-enterprise";
  return `svc-consumer-${tier}`;
}
