/** Which colony a request is about, and what its caller is there (docs/reference/colony.md). */
import type { Identity, Membership } from "../../../actors/identity/identity.ts";
import { type TenantKind, tenantKind } from "../../../actors/identity/tenant.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { isUuid } from "../../http/route.ts";
import type { Members } from "../../identity/callers/members.ts";
import { requireOpen } from "../../identity/tenants/teams.ts";
import type { Tenants } from "../../identity/tenants/tenants.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { AuditedCall } from "../audit/port.ts";

/** Who asks, and where, as the audit log tells. */
export interface ColonyCall extends AuditedCall {
  /** The effective tenant. */
  readonly tenant: string;
  /** The team that the query names. */
  readonly query: { readonly team_id?: string | undefined };
}

export interface Colony {
  /** Of a person's own tenant: it has no members but that person. */
  readonly kind: TenantKind;
  readonly tenant: string;
  /** What the caller is there; null: nothing. */
  readonly role: Membership | null;
}

/** A colony with members, in which the caller may change something. */
export interface Run extends Colony {
  readonly kind: "team" | "enterprise";
  readonly role: Membership;
}

export interface Colonies {
  /**
   * The colony that a call is about.
   * @param little whether a suspended one still answers
   * @throws Problem 400 `team_context_required`, `invalid_tenant_slug`, 402 `colony_suspended`, 403 `not_a_team_member`,
   *   `tenant_suspended`, `tenant_deleted`
   */
  of(call: ColonyCall, little: boolean): Promise<Colony>;
  /**
   * The same where the caller changes something: as its owner or as an admin.
   * @throws Problem as above; 403 `tier_not_permitted` in a person's own tenant, `insufficient_scope` for other members
   */
  runBy(call: ColonyCall, little?: boolean): Promise<Run>;
}

export interface ColoniesOptions {
  readonly sql: Sql;
  readonly tenants: Pick<Tenants, "find">;
  readonly members: Pick<Members, "find">;
}

/**
 * Whether an operator or a service account acts in a tenant that is not the platform's: there it counts as the owner, and
 * is never a member.
 */
export const actsForTenant = ({ kind }: Pick<Identity, "kind">): boolean =>
  kind === "operator" || kind === "service_account";

export function createColonies({ sql, tenants, members }: ColoniesOptions): Colonies {
  async function choose(call: ColonyCall): Promise<Colony> {
    const { identity, tenant, query, request } = call;
    const named = query.team_id === undefined ? tenant : teamSlug(query.team_id);
    if (named === tenant) return effective(identity, tenant);
    if (tenantKind(tenant) === "team" && request.headers.has("x-svc-team"))
      throw new Problem("team_context_required", "X-Svc-Team and team_id name different teams");
    return memberOf(identity, named);
  }

  /** Where the request names no colony by itself. */
  function effective(identity: Identity, tenant: string): Promise<Colony> | Colony {
    const kind = tenantKind(tenant);
    const actsForIt = actsForTenant(identity);
    if (kind === "team" && !actsForIt) return memberOf(identity, tenant);
    if (kind === "team" || kind === "enterprise")
      return { kind, tenant, role: actsForIt ? "owner" : identity.membership };
    // Who acts for a person's tenant is not that person.
    return kind === "system" || actsForIt ? { kind, tenant, role: null } : ofPerson(identity, tenant);
  }

  /** A person's one team, otherwise their own tenant. A key stays in the tenant that it was made in. */
  async function ofPerson(identity: Identity, tenant: string): Promise<Colony> {
    const joined = identity.keyId === null ? await joinedTeams(identity) : [];
    if (joined.length > 1)
      throw new Problem("team_context_required", "The caller is in several teams: X-Svc-Team or team_id says which");
    return joined[0] === undefined ? { kind: "consumer", tenant, role: "owner" } : memberOf(identity, joined[0]);
  }

  async function memberOf(identity: Identity, tenant: string): Promise<Colony> {
    const role =
      identity.keyId === null || identity.homeTenant === tenant ? await members.find(tenant, identity) : null;
    if (role === null) throw new Problem("not_a_team_member", "The caller is no member of that team");
    return { kind: "team", tenant, role };
  }

  /** Two at most: more make no difference. */
  async function joinedTeams({ realm, userId }: Identity): Promise<readonly string[]> {
    const rows = await sql<{ tenant: string }[]>`
      select m.tenant from tenant_members m join tenants t on t.slug = m.tenant
      where m.realm = ${realm} and m.user_id = ${userId} and m.status = 'active'
        and t.kind = 'team' and t.status <> 'deleted' limit 2`;
    return rows.map(({ tenant }) => tenant);
  }

  async function of(call: ColonyCall, little: boolean): Promise<Colony> {
    const colony = await choose(call);
    if (colony.tenant === call.tenant) return colony;
    const tenant = await tenants.find(colony.tenant);
    if (tenant !== null) requireOpen(tenant, little);
    return colony;
  }

  return {
    of,
    async runBy(call, little = false) {
      const { kind, tenant, role } = await of(call, little);
      if (kind === "system") throw new Problem("team_context_required", "The platform's own tenant has no members");
      if (kind === "consumer") throw new Problem("tier_not_permitted", "A person's own tenant has no further members");
      if (role !== "owner" && role !== "admin") throw notInCharge();
      return { kind, tenant, role };
    },
  };
}

/** @returns 403 `insufficient_scope`: the caller is a member, and neither owner nor admin */
export const notInCharge = () =>
  new Problem("insufficient_scope", "Only the owner and admins may do this", { required: "colony:write" });

/** @throws Problem 400 `invalid_tenant_slug` */
function teamSlug(text: string): string {
  const id = text.toLowerCase().replace(/^t-/, "");
  if (!isUuid(id)) throw new Problem("invalid_tenant_slug", "This is no team");
  return `t-${id}`;
}
