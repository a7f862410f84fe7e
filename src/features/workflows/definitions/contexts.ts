/** The security context that a manifest names for its tool and fleet calls: one that its deployer may use. */
import type { Issue } from "../../../../actors/kernel/problem.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { isSystemName } from "../../../../actors/policy/security/spec.ts";
import type { Definition } from "../../../../actors/workflow/definition.ts";
import type { Caller, WorkflowParts } from "./parts.ts";
import { globalOwner, tenantOf } from "./records.ts";

type Parts = Pick<WorkflowParts, "contexts" | "terms">;

/** What is wrong with the name, for this owner's workflows. Those of all tenants name a context of the system. */
export async function contextIssues(
  { contexts }: Parts,
  owner: string,
  { security_context: name }: Definition,
): Promise<readonly Issue[]> {
  if (name === undefined) return [];
  const isSeen = owner === globalOwner ? isSystemName(name) : true;
  if (isSeen && (await contexts.exists(tenantOf(owner), name))) return [];
  const message = "there is no such security context";
  return [{ path: "spec.security_context", message, code: "unknown_security_context" }];
}

/** @throws Problem 403 `security_context_forbidden` */
export async function requireContext(
  { contexts, terms }: Parts,
  { identity, tenant }: Caller,
  { security_context: name }: Definition,
): Promise<void> {
  if (name === undefined || (await contexts.mayUse(tenant, name, identity, (await terms(tenant)).tier))) return;
  throw new Problem("security_context_forbidden", `The caller may not use the security context ${name}`);
}
