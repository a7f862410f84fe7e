/** Teams: tenants that people of several homes share (docs/reference/colony.md). */
import { ownerOnly } from "../../../../actors/colony/roles.ts";
import type { Identity, Membership, Tier } from "../../../../actors/identity/identity.ts";
import { reaches } from "../../../../actors/identity/standing.ts";
import { consumerTenant, tenantKind } from "../../../../actors/identity/tenant.ts";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import { isStorable } from "../../../../actors/manifest/storable.ts";
import type { Page } from "../../../http/paging.ts";
import type { Members } from "../../../identity/callers/members.ts";
import { isPlanSuspended, teamId } from "../../../identity/tenants/teams.ts";
import { requireActive, type Tenant, type Tenants } from "../../../identity/tenants/tenants.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { type Audit, type AuditedCall, auditedBy } from "../../audit/port.ts";
import { actsForTenant } from "../context.ts";
import type { NewTeam, TeamBody } from "../schema.ts";
import { inTurn } from "../seats.ts";
import { personalTierTooLow, requireRoomForTeam } from "../team-room.ts";
import { type TeamRow, teamRecords } from "./records.ts";

/** Who does it, as the audit log tells. */
export interface TeamCall extends AuditedCall {
  /** The effective tenant. */
  readonly tenant: string;
}

export interface TeamServiceOptions {
  readonly sql: Sql;
  readonly tenants: Tenants;
  readonly members: Members;
  readonly audit: Pick<Audit, "append">;
  /** Deletes a tenant, in the transaction that puts it on record. @returns what is to be called after the commit */
  readonly endTenant: (tx: Transaction, slug: string) => Promise<() => void>;
}

export type TeamService = ReturnType<typeof createTeamService>;

export function createTeamService({ sql, tenants, members, audit, endTenant }: TeamServiceOptions) {
  const records = teamRecords(sql);

  async function bodyOf(row: TeamRow): Promise<TeamBody | null> {
    const tenant = await tenants.find(row.slug);
    return tenant === null ? null : teamBody(row, tenant);
  }

  /** The caller's own tenant, with what their token claims for it. @throws Problem 403 `tenant_suspended`, `tenant_deleted` */
  async function ownTenant({ userId, tier, issuedAt }: Identity): Promise<Tenant> {
    const own = consumerTenant(userId, sha256Hex);
    requireActive(await tenants.ensure(own));
    if (issuedAt !== null) await tenants.claimTier(own, tier, issuedAt);
    const tenant = await tenants.find(own);
    if (tenant === null) throw new Error(`the tenant ${own} was made and is not there`);
    return tenant;
  }

  async function insert(tx: Transaction, call: TeamCall, id: string, given: Required<NewTeam>, own: Tenant) {
    const slug = `t-${id}`;
    const { realm, userId } = call.identity;
    await requireRoomForTeam(tx, own.slug, own.standing.tier);
    await records.create(tx, slug, given, own.slug);
    await members.admit(tx, slug, { realm, userId }, "owner");
    const details = { display_name: given.display_name, tier: given.tier };
    await audit.append(tx, auditedBy(call), {
      tenant: slug,
      action: "team.created",
      target: { type: "team", id },
      details,
    });
  }

  async function one(slug: string, role: Membership | null): Promise<TeamBody> {
    const row = await records.one(slug, role);
    const body = row === null ? null : await bodyOf(row);
    if (body === null) throw new Problem("tenant_not_found", "Tenant not found");
    return body;
  }

  return {
    one,

    /** The caller's teams, oldest first; of who acts for a team that one. */
    async list({ identity, tenant }: TeamCall, page: Page) {
      const rows =
        actsForTenant(identity) || identity.keyId !== null
          ? await forTenant(identity, tenant)
          : await records.list(identity, page);
      const bodies = await Promise.all(rows.map(bodyOf));
      return bodies.flatMap((body, index) => (body === null ? [] : [{ ...body, place: rows[index]?.position ?? "0" }]));
    },

    /**
     * @param id of the team, the same at a repeat
     * @throws Problem 402 `personal_tier_too_low`, `quota_exceeded`, 403 `user_identity_required`, 422 `email_required`
     */
    async create(call: TeamCall, id: string, { display_name, tier = "business" }: NewTeam): Promise<TeamBody> {
      const { identity } = call;
      if (identity.kind !== "consumer")
        throw new Problem("user_identity_required", "Only people of the consumer realm make teams");
      if (identity.email === null) throw new Problem("email_required", "The token carries no verified address");
      if (!isStorable(display_name) || display_name.trim() === "")
        throw invalidField("display_name", "must be printable text");
      const slug = `t-${id}`;
      // The same piece of work, repeated after a crash.
      if ((await records.one(slug, "owner")) !== null) return one(slug, "owner");
      const own = await ownTenant(identity);
      if (!reaches(own.standing.tier, tier)) throw personalTierTooLow(tier);
      await inTurn(sql, own.slug, [], (tx) => insert(tx, call, id, { display_name, tier }, own));
      tenants.changed(slug);
      members.changed(slug);
      return one(slug, "owner");
    },

    /** By its owner, in each of its states; again without effect. @throws Problem 403 `owner_only` */
    async remove(call: TeamCall, id: string): Promise<void> {
      const slug = `t-${id}`;
      const { identity } = call;
      const mayLeaveHome = identity.keyId === null || call.tenant === slug;
      const owns = actsForTenant(identity) ? call.tenant === slug : await records.isOwner(slug, identity);
      if (!owns || !mayLeaveHome) throw ownerOnly();
      let ended = () => {};
      await sql.begin(async (tx) => {
        if (!(await records.hold(tx, slug))) return;
        ended = await endTenant(tx, slug);
        const target = { type: "team", id };
        await audit.append(tx, auditedBy(call), { tenant: slug, action: "team.deleted", target, details: {} });
      });
      ended();
      members.changed(slug);
    },
  };

  /** Of a caller who stays in the tenant that they were let into. */
  async function forTenant(identity: Identity, tenant: string): Promise<readonly TeamRow[]> {
    if (tenantKind(tenant) !== "team") return [];
    const row = await records.one(tenant, actsForTenant(identity) ? "owner" : identity.membership);
    return row === null ? [] : [row];
  }
}

function teamBody(row: TeamRow, tenant: Tenant): TeamBody {
  const { slug } = tenant;
  const { tier } = tenant.standing;
  return {
    id: tenant.kind === "team" ? teamId(slug) : slug,
    slug,
    display_name: row.display_name,
    tier: shownTier(tier),
    tenant_id: slug,
    role: row.role,
    status: tenant.status === "suspended" ? "suspended" : isPlanSuspended(tenant) ? "plan_suspended" : "active",
    member_count: row.member_count,
    created_at: row.created_at.toISOString(),
  };
}

/** The platform's own tenant stands as an enterprise's, where a tier is shown. */
const shownTier = (tier: Tier | "system"): Tier => (tier === "system" ? "enterprise" : tier);
