/** Security contexts that a definition names: who deploys it must be allowed to use them, when and after it is deployed. */
import { type Identity, systemTenant } from "../../../actors/identity/identity.ts";
import { invalidAt, Problem } from "../../../actors/kernel/problem.ts";
import type { TenantTerms } from "../../../actors/policy/quota.ts";
import { isSystemName } from "../../../actors/policy/security/spec.ts";
import type { ContextReader } from "./known.ts";

interface Deployer {
  readonly identity: Identity;
  /** The effective tenant. */
  readonly tenant: string;
}

/**
 * @param owner of the definition: a global one names a context of the system
 * @param name what it names; null: none
 * @throws Problem 403 `security_context_forbidden`, 422 `unknown_security_context`
 */
export async function requireDeployable(
  {
    terms,
    contexts,
  }: {
    readonly terms: (tenant: string) => Promise<TenantTerms>;
    readonly contexts: Pick<ContextReader, "exists" | "mayUse">;
  },
  { identity, tenant }: Deployer,
  owner: string,
  name: string | null,
): Promise<void> {
  if (name === null) return;
  const isForAll = owner === systemTenant && tenant !== systemTenant;
  if ((isForAll && !isSystemName(name)) || !(await contexts.exists(tenant, name))) {
    throw invalidAt("unknown_security_context", "spec.security_context", "there is no such security context");
  }
  if (await contexts.mayUse(tenant, name, identity, (await terms(tenant)).tier)) return;
  throw new Problem("security_context_forbidden", `The caller may not use the security context ${name}`);
}
