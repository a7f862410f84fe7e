/** Members of a colony: shown, given other roles, removed (docs/reference/colony.md). */
import { decideRoleChange, ownerOnly, ownerRoleImmutable } from "../../../../actors/colony/roles.ts";
import { type Identity, type Membership, systemTenant } from "../../../../actors/identity/identity.ts";
import { reaches } from "../../../../actors/identity/standing.ts";
import { consumerTenant } from "../../../../actors/identity/tenant.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import type { Page } from "../../../http/paging.ts";
import type { Keys } from "../../../identity/callers/api-keys.ts";
import type { Members, Person } from "../../../identity/callers/members.ts";
import type { Tenant, Tenants } from "../../../identity/tenants/tenants.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "../../audit/port.ts";
import { actsForTenant, type Colonies, type Colony, type ColonyCall, notInCharge, type Run } from "../context.ts";
import type { InvitationRecords } from "../invitations/records.ts";
import { memberBody } from "../member-body.ts";
import { type ActiveMember, type MemberRecords, type MemberRow, memberRecords } from "../member-records.ts";
import type { MemberBody } from "../schema.ts";
import { inTurn, ownerAsPayer, requireSeats } from "../seats.ts";
import { personalTierTooLow, requireRoomForTeam } from "../team-room.ts";

export interface MemberServiceOptions {
  readonly sql: Sql;
  readonly colonies: Colonies;
  readonly invitations: InvitationRecords;
  readonly tenants: Tenants;
  readonly members: Members;
  readonly keys: Pick<Keys, "revokeOf" | "changed">;
  readonly audit: Pick<Audit, "append">;
  /** Unix ms. */
  readonly now: () => number;
}

export type MemberService = ReturnType<typeof createMemberService>;

export function createMemberService(options: MemberServiceOptions) {
  const { sql, colonies, invitations, tenants, members, keys, audit, now } = options;
  const records: MemberRecords = memberRecords(sql);

  /** @throws Problem 404 `not_found`, 409 `ambiguous_user` for a subject that two realms know */
  async function find(tx: Sql | Transaction, tenant: string, id: string): Promise<MemberRow> {
    const [found, another] = await records.find(tx, tenant, id, new Date(now()));
    if (found === undefined) throw new Problem("not_found", "There is no such member");
    if (another === undefined) return found;
    throw new Problem("ambiguous_user", "Two realms know a user of this id: the membership_id tells them apart");
  }

  /** A consumer's own tenant, whose plan pays for the teams that they own; null: others own none. */
  async function ownTenant({ realm, user_id }: MemberRow): Promise<string | null> {
    if (realm === null || user_id === null) return null;
    const kind = await records.kindOf(sql, { realm, userId: user_id });
    return kind === "consumer" ? consumerTenant(user_id, sha256Hex) : null;
  }

  /** The owner of a team needs a plan with teams. @param own the future owner's own tenant */
  async function planOf(team: string, own: string | null): Promise<Tenant> {
    const [tenant, owned] = await Promise.all([own === null ? null : tenants.find(own), tenants.find(team)]);
    const wanted = owned?.teamTier ?? "business";
    if (tenant !== null && tenant.status !== "deleted" && reaches(tenant.standing.tier, wanted)) return tenant;
    throw personalTierTooLow(wanted);
  }

  /** @param own the future owner's own tenant; null: in an enterprise's tenant, or of one who can own no team */
  async function transfer(tx: Transaction, call: ColonyCall, colony: Run, to: ActiveMember, own: string | null) {
    const { tenant, kind } = colony;
    const plan = kind === "team" ? await planOf(tenant, own) : null;
    if (plan !== null) await requireRoomForTeam(tx, plan.slug, plan.standing.tier);
    const from = await records.owner(tx, tenant);
    // What the caller was when asked may be over: the ownership went to another meanwhile.
    if (!actsForTenant(call.identity) && !isSame(from, call.identity)) throw ownerOnly();
    if (from !== null) await members.change(tx, tenant, from, "admin");
    await members.change(tx, tenant, { realm: to.realm, userId: to.user_id }, "owner");
    if (plan !== null) {
      const at = new Date(now());
      await tx`update tenants set owner_tenant = ${plan.slug}, updated_at = ${at} where slug = ${tenant}`;
      await requireSeats(tx, ownerAsPayer(plan), 0, at);
    }
    const details = { from: from === null ? null : { realm: from.realm, user_id: from.userId }, to: personOf(to) };
    await record(tx, call, tenant, "team.transferred", { type: kind, id: tenant }, details);
  }

  function record(
    tx: Transaction,
    call: ColonyCall,
    tenant: string,
    action: string,
    target: { readonly type: string; readonly id: string },
    details: { readonly [key: string]: Json },
  ): Promise<void> {
    return audit.append(tx, auditedBy(call), { tenant, action, target, details });
  }

  async function changeRole(
    tx: Transaction,
    call: ColonyCall,
    colony: Run,
    id: string,
    to: Membership,
    own: string | null,
  ): Promise<MemberRow> {
    const { tenant } = colony;
    const row = await find(tx, tenant, id);
    if (row.invitation_id !== null) {
      if (to === "owner") throw invalidField("role", "no person is invited as the owner");
      await invitations.setRole(tx, tenant, row.invitation_id, to);
      const target = { type: "invitation", id: row.invitation_id };
      await record(tx, call, tenant, "invitation.role_changed", target, { from: row.role, to });
      return find(tx, tenant, id);
    }
    const member = activeOf(row);
    const what = decideRoleChange({ by: colony.role, from: row.role, to });
    if (what === "nothing") return row;
    if (what === "transfer") await transfer(tx, call, colony, member, own);
    else await members.change(tx, tenant, { realm: member.realm, userId: member.user_id }, to);
    const details = { from: row.role, to, ...personOf(member) };
    await record(tx, call, tenant, "member.role_changed", { type: "member", id: member.membership_id }, details);
    return find(tx, tenant, member.membership_id);
  }

  /** The person in their own tenant, which has no stored members. */
  const alone = ({ userId, realm, email }: Identity): MemberRow => ({
    membership_id: null,
    invitation_id: null,
    realm,
    user_id: userId,
    email,
    name: null,
    role: "owner",
    status: "active",
    invited_at: null,
    joined_at: null,
  });

  return {
    /** Members and the invited. @returns one more than the page asks for when there are more, with its place */
    async list(colony: Colony, { identity }: ColonyCall, page: Page) {
      const { tenant, kind, role } = colony;
      if (tenant === systemTenant || (kind === "consumer" && role === null)) return [];
      if (kind === "consumer") return [{ ...memberBody(alone(identity)), place: ["0", ""] }];
      const rows = await records.list(tenant, new Date(now()), page);
      return rows.map((row) => ({ ...memberBody(row), place: [row.position, row.row_id] }));
    },

    /**
     * Changes a role; that of `owner` goes over from one to the other.
     * @throws Problem 402 `personal_tier_too_low`, `seat_cap_reached`, `quota_exceeded`, 403 `owner_only`, 404 `not_found`,
     *   409 `owner_role_immutable`, `ambiguous_user`, 422 for an invitation as owner
     */
    async setRole(call: ColonyCall, id: string, to: Membership): Promise<MemberBody> {
      const colony = await colonies.runBy(call);
      const { tenant } = colony;
      const own = to === "owner" ? await ownTenant(await find(sql, tenant, id)) : null;
      const others = own === null ? [] : [own];
      const row = await inTurn(sql, tenant, others, (tx) => changeRole(tx, call, colony, id, to, own));
      members.changed(tenant);
      if (to === "owner") tenants.changed(tenant);
      return memberBody(row);
    },

    /**
     * Ends a membership, with the person's keys in the tenant, or cancels an invitation. Sessions and streams end by the
     * notice.
     * @throws Problem 403 `insufficient_scope`, 404 `not_found`, 409 `owner_role_immutable`, `ambiguous_user`
     */
    async remove(call: ColonyCall, id: string): Promise<"removed" | "cancelled"> {
      const colony = await colonies.of(call, true);
      // Refused in a colony without members.
      if (colony.kind === "system" || colony.kind === "consumer") await colonies.runBy(call, true);
      const { tenant } = colony;
      const seen = await find(sql, tenant, id);
      const isOwn = seen.realm === call.identity.realm && seen.user_id === call.identity.userId;
      if (!isOwn) await colonies.runBy(call, true);
      if (!isOwn && !call.identity.scopes.has("colony:write")) throw notInCharge();
      const ended = await inTurn(sql, tenant, [], async (tx) => {
        const row = await find(tx, tenant, id);
        if (row.invitation_id !== null) {
          await invitations.cancel(tx, tenant, row.invitation_id, new Date(now()));
          await record(tx, call, tenant, "invitation.cancelled", { type: "invitation", id: row.invitation_id }, {});
          return null;
        }
        if (row.role === "owner") throw ownerRoleImmutable();
        const member = activeOf(row);
        await members.revoke(tx, tenant, { realm: member.realm, userId: member.user_id });
        const revoked = await keys.revokeOf(tx, { tenant, realm: member.realm, userId: member.user_id });
        const target = { type: "member", id: member.membership_id };
        await record(tx, call, tenant, "member.removed", target, { ...personOf(member), keys: revoked.length });
        return revoked;
      });
      if (ended === null) return "cancelled";
      members.changed(tenant);
      keys.changed(ended);
      return "removed";
    },
  };
}

/** Rows of members have both. */
function activeOf({ membership_id, realm, user_id, ...row }: MemberRow): ActiveMember {
  if (membership_id === null || realm === null || user_id === null) throw new Error("an invitation is no member");
  return { ...row, membership_id, realm, user_id };
}

const isSame = (one: Person | null, { realm, userId }: Person): boolean =>
  one !== null && one.realm === realm && one.userId === userId;

const personOf = ({ realm, user_id }: ActiveMember) => ({ realm, user_id });
