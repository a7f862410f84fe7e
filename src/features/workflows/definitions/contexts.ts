/** The security context that a manifest names for its tool and fleet calls: one that its deployer may use. */
import { type Issue, invalid, Problem } from "../../../../actors/kernel/problem.ts";
import { isSystemName } from "../../../../actors/policy/security/spec.ts";
import type { Definition } from "../../../../actors/workflow/definition.ts";
import type { Caller, WorkflowParts } from "./parts.ts";
import { globalOwner, tenantOf } from "./records.ts";

type Parts = Pick<WorkflowParts, "contexts" | "terms">;
type Naming = Pick<Definition, "security_context">;
type Deploying = Pick<Caller, "identity" | "tenant">;

const path = "spec.security_context";

/** What is wrong with the name, for this owner's workflows. Those of all tenants name a context of the system. */
export async function contextIssues(
  { contexts }: Pick<Parts, "contexts">,
  owner: string,
  { security_context: name }: Naming,
): Promise<readonly Issue[]> {
  if (name === undefined) return [];
  const isSeen = owner === globalOwner ? isSystemName(name) : true;
  if (isSeen && (await contexts.exists(tenantOf(owner), name))) return [];
  return [{ path, message: "there is no such security context", code: "unknown_security_context" }];
}

/** What forbids the caller to deploy what names this context. */
export async function forbiddenIssues(
  { contexts, terms }: Parts,
  { identity, tenant }: Deploying,
  { security_context: name }: Naming,
): Promise<readonly Issue[]> {
  if (name === undefined || (await contexts.mayUse(tenant, name, identity, (await terms(tenant)).tier))) return [];
  return [{ path, message: `the caller may not use ${name}`, code: "security_context_forbidden" }];
}

/** @throws Problem 403 `security_context_forbidden` */
export async function requireContext(parts: Parts, caller: Deploying, naming: Naming): Promise<void> {
  const [issue] = await forbiddenIssues(parts, caller, naming);
  if (issue === undefined) return;
  const message = `The caller may not use the security context ${naming.security_context}`;
  throw new Problem("security_context_forbidden", message);
}

/** Both, for what the caller gives to an owner. @throws Problem 403 `security_context_forbidden`, 422 `unknown_security_context` */
export async function requireGivenContexts(
  parts: Parts,
  caller: Deploying,
  owner: string,
  names: readonly string[],
): Promise<void> {
  for (const security_context of names) {
    const issues = await contextIssues(parts, owner, { security_context });
    if (issues.length > 0) {
      const message = `There is no security context ${security_context} where the workflow goes`;
      throw invalid("unknown_security_context", message, issues);
    }
    await requireContext(parts, caller, { security_context });
  }
}
