/** Whose a credential is: who sees it, who may change it, and what scope a new one gets (docs/reference/credentials.md). */
import { administers, type Identity } from "../identity/identity.ts";
import { tenantKind } from "../identity/tenant.ts";
import { invalidField, Problem } from "../kernel/problem.ts";

/** `personal`: its owner's alone; `tenant`: of everybody in the tenant. */
export type CredentialScope = "personal" | "tenant";

/** Whose it is. A subject is one of its realm. */
export interface Owned {
  readonly scope: CredentialScope;
  readonly realm: string;
  readonly userId: string;
}

/** A person or machine, as far as ownership goes by it. */
export type Subject = Pick<Identity, "realm" | "userId">;

const isOwn = (caller: Subject, { realm, userId }: Subject): boolean =>
  caller.realm === realm && caller.userId === userId;

/** Another person's personal credential is as unknown as one of another tenant, to administrators too. */
export const sees = (caller: Subject, credential: Owned): boolean =>
  credential.scope === "tenant" || isOwn(caller, credential);

/**
 * Whether the caller, who sees it, may rotate, revoke and grant it: its creator, those who decide for the tenant, and
 * machines.
 * @param tenant the effective one
 */
export function mayManage(caller: Identity, tenant: string, credential: Owned): boolean {
  if (isOwn(caller, credential)) return true;
  return credential.scope === "tenant" && (caller.kind === "service_account" || administers(caller, tenant));
}

/**
 * The scope of a new credential.
 * @param asked `personal`, `tenant` or `team:<uuid>`, which is `tenant` in that very team; null: people's are personal
 * @throws Problem 403 `user_identity_required`: machines have none of their own; 422 for another team
 */
export function scopeOf(caller: Pick<Identity, "kind">, tenant: string, asked: string | null): CredentialScope {
  const isMachine = caller.kind === "service_account";
  if (asked === null) return isMachine ? "tenant" : "personal";
  if (asked === "tenant") return "tenant";
  if (asked === "personal") {
    if (isMachine) throw new Problem("user_identity_required", "Only people have personal credentials");
    return "personal";
  }
  if (asked.toLowerCase() === `team:${tenant.replace(/^t-/, "")}` && tenantKind(tenant) === "team") return "tenant";
  throw invalidField("scope", "must be personal, tenant, or team: with the id of the team that is acted in");
}
