/** Invitations: made, sent, withdrawn, accepted (docs/reference/colony.md). */
import { invitationLastsMs } from "../../../../actors/colony/plan.ts";
import { foldedAddress, isAddress } from "../../../../actors/identity/address.ts";
import type { Identity } from "../../../../actors/identity/identity.ts";
import type { InvitedRole } from "../../../../actors/identity/membership.ts";
import { tenantKind } from "../../../../actors/identity/tenant.ts";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import { isStorable } from "../../../../actors/manifest/storable.ts";
import type { Page } from "../../../http/paging.ts";
import type { Members, Person } from "../../../identity/callers/members.ts";
import { requireOpen, teamId } from "../../../identity/tenants/teams.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { type Audit, type AuditedBy, type AuditedCall, auditedBy } from "../../audit/port.ts";
import type { Letters } from "../../mail/port.ts";
import type { Colonies, Colony, ColonyCall } from "../context.ts";
import { memberBody } from "../member-body.ts";
import { type MemberRecords, memberRecords } from "../member-records.ts";
import type { InvitationBody, MemberBody } from "../schema.ts";
import { inTurn, payerOf, requireSeats } from "../seats.ts";
import { invitationMail } from "./mail-message.ts";
import type { InvitationRecords, InvitationRow, InvitationStatus } from "./records.ts";
import { hashOf, newToken } from "./token.ts";

export interface InvitationServiceOptions {
  readonly sql: Sql;
  readonly colonies: Colonies;
  readonly records: InvitationRecords;
  readonly tenants: Tenants;
  readonly members: Members;
  readonly audit: Pick<Audit, "append">;
  readonly letters: Letters;
  /** Where an invited person accepts, the token behind it. */
  readonly linkOf: (tenant: string, token: string) => string;
  /** Unix ms. */
  readonly now: () => number;
}

/** A new invitation with what only the inviter and the invited person see. */
export interface Invited {
  readonly row: InvitationRow;
  readonly token: string;
  readonly link: string;
}

export type InvitationService = ReturnType<typeof createInvitationService>;

export function createInvitationService(options: InvitationServiceOptions) {
  const { sql, colonies, records, tenants, members, audit, letters, linkOf, now } = options;
  const known: MemberRecords = memberRecords(sql);

  /** What is told of an invitation, in the transaction that changes it. */
  function record(
    tx: Transaction,
    by: AuditedBy,
    { tenant, id }: Pick<InvitationRow, "tenant" | "id">,
    verb: "created" | "replaced" | "cancelled" | "accepted",
    details: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const target = { type: "invitation", id };
    return audit.append(tx, by, { tenant, action: `invitation.${verb}`, target, details });
  }

  function recordJoined(tx: Transaction, by: AuditedBy, tenant: string, person: Person, role: string, id: string) {
    const details = { realm: person.realm, role, invitation_id: id };
    return audit.append(tx, by, {
      tenant,
      action: "member.joined",
      target: { type: "user", id: person.userId },
      details,
    });
  }

  return {
    /** Newest first. */
    async list({ kind, tenant }: Colony, status: InvitationStatus | null, page: Page) {
      if (kind === "system" || kind === "consumer") return [];
      const rows = await records.list(tenant, status, new Date(now()), page);
      return rows.map((row) => ({ ...invitationBody(row), place: [row.position, row.id] }));
    },

    /**
     * Invites an address, by mail where a server is configured. An open invitation to the address is replaced.
     * @param id of the invitation, the same at a repeat
     * @throws Problem 402 `seat_cap_reached`, 409 `already_member`, 429 `rate_limited`
     */
    async invite(call: ColonyCall, id: string, address: string, role: InvitedRole): Promise<Invited> {
      const { tenant } = await colonies.runBy(call);
      if (!isStorable(address)) throw invalidField("email", "must be an address");
      const found = await tenants.find(tenant);
      if (found === null) throw new Problem("tenant_not_found", "Tenant not found");
      const token = newToken();
      const link = linkOf(tenant, token);
      const at = now();
      const expiresAt = at + invitationLastsMs;
      const by = auditedBy(call);
      const row = await inTurn(sql, tenant, [], async (tx, payer) => {
        const folded = foldedAddress(address);
        if (await known.isKnown(tx, tenant, folded))
          throw new Problem("already_member", "A member is known by this address");
        const replaced = await records.replace(tx, tenant, folded, new Date(at));
        await requireSeats(tx, await payerOf(found, tenants, payer), 1, new Date(at));
        const made = { id, tenant, address, address_folded: folded, role };
        const times = { at: new Date(at), expiresAt: new Date(expiresAt) };
        await records.create(tx, { ...made, ...times, tokenHash: hashOf(token) });
        const name = await nameOf(tx, tenant);
        await letters.post(tx, { tenant, to: address, ...invitationMail({ name, role, link, expiresAt }), expiresAt });
        if (replaced !== null && replaced !== id) await record(tx, by, { tenant, id: replaced }, "replaced");
        await record(tx, by, made, "created", { role, address });
        return records.held(tx, tenant, id, new Date(at));
      });
      if (row === null) throw new Error(`the invitation ${id} was made and is not there`);
      letters.sendSoon();
      return { row, token, link };
    },

    /** @throws Problem 404 `invalid_invitation`, 409 `invitation_not_pending` */
    async cancel(call: ColonyCall, id: string): Promise<void> {
      const { tenant } = await colonies.runBy(call);
      await inTurn(sql, tenant, [], async (tx) => {
        const row = await records.held(tx, tenant, id, new Date(now()));
        if (row === null) throw unknownInvitation();
        if (row.status !== "pending") throw notPending();
        await records.cancel(tx, tenant, id, new Date(now()));
        await record(tx, auditedBy(call), row, "cancelled");
      });
    },

    /**
     * Makes the caller a member, as the invitation says. By the link of an invitation that signing in accepted already,
     * once, nothing is changed.
     * @throws Problem 402 `colony_suspended`, 403 `email_mismatch`, `identity_kind_not_allowed`, 404 `invalid_invitation`,
     *   409 `invitation_not_pending`, `already_member`, 410 `invitation_expired`
     */
    async accept(call: AuditedCall, token: string): Promise<{ readonly tenant: string; readonly member: MemberBody }> {
      const { identity } = call;
      const person = { realm: identity.realm, userId: identity.userId };
      const found = await records.byToken(hashOf(token), new Date(now()));
      if (found === null) throw unknownInvitation();
      const { tenant } = found;
      await inTurn(sql, tenant, [], async (tx) => {
        const at = new Date(now());
        const mine = await known.one(tx, tenant, person);
        const row = (await records.held(tx, tenant, found.id, at)) ?? found;
        if (row.by_sign_in && isOf(row, person)) return records.linkUsed(tx, row.id);
        requireAcceptable(row, identity);
        const state = await tenants.find(tenant);
        if (state === null) throw unknownInvitation();
        requireOpen(state, false);
        if (mine?.status === "active") throw new Problem("already_member", "The caller is a member already");
        await members.admit(tx, tenant, person, row.role);
        await records.accept(tx, row.id, person, false, at);
        const by = auditedBy(call);
        await record(tx, by, row, "accepted");
        await recordJoined(tx, by, tenant, person, row.role, row.id);
      });
      members.changed(tenant);
      const member = await known.one(sql, tenant, person);
      if (member === null) throw new Error(`the member of ${tenant} was made and is not there`);
      return { tenant, member: memberBody({ ...member, email: member.email ?? identity.email }) };
    },

    /** Accepted by signing in, in the transaction that makes the membership. */
    async acceptBySignIn(
      tx: Transaction,
      tenant: string,
      address: string,
      person: Person,
    ): Promise<InvitedRole | null> {
      const at = new Date(now());
      const row = await records.open(tx, tenant, foldedAddress(address), at);
      if (row === null) return null;
      await records.accept(tx, row.id, person, true, at);
      const actor = {
        kind: "tenant_user",
        realm: person.realm,
        user_id: person.userId,
        role: row.role,
        key_id: null,
        name: address,
      };
      const by = { actor, ip: null, user_agent: null, request_id: null };
      await record(tx, by, row, "accepted");
      await recordJoined(tx, by, tenant, person, row.role, row.id);
      return row.role;
    },

    /** What stands behind a token; null: nothing. */
    async find(token: string) {
      const row = await records.byToken(hashOf(token), new Date(now()));
      if (row === null) return null;
      const { tenant, address, role, status, expires_at } = row;
      return { tenant, address, role, status, expiresAt: expires_at.getTime() };
    },
  };
}

/** @throws Problem as `accept` has them */
function requireAcceptable({ status, address, tenant }: InvitationRow, identity: Identity): void {
  if (status === "expired") throw new Problem("invitation_expired", "The invitation has expired");
  if (status !== "pending") throw notPending();
  if (!isAddress(identity.email, address))
    throw new Problem("email_mismatch", "The invitation is to another address than the caller's verified one");
  const isTeam = tenantKind(tenant) === "team";
  const mayJoin = isTeam
    ? identity.kind === "consumer" || identity.kind === "tenant_user"
    : identity.kind === "tenant_user" && identity.homeTenant === tenant;
  if (!mayJoin) throw new Problem("identity_kind_not_allowed", "People of this kind are no members of that tenant");
}

const isOf = ({ realm, user_id }: InvitationRow, person: Person): boolean =>
  realm === person.realm && user_id === person.userId;

async function nameOf(tx: Transaction, tenant: string): Promise<string> {
  const [row] = await tx<{ display_name: string }[]>`select display_name from tenants where slug = ${tenant}`;
  return row?.display_name ?? tenant;
}

const unknownInvitation = () => new Problem("invalid_invitation", "There is no such invitation");
const notPending = () => new Problem("invitation_not_pending", "The invitation is open no more");

export function invitationBody(row: InvitationRow): InvitationBody {
  return {
    id: row.id,
    team_id: colonyId(row.tenant),
    invitee_email: row.address,
    role: row.role,
    status: row.status,
    expires_at: row.expires_at.toISOString(),
    created_at: row.created_at.toISOString(),
  };
}

/** Of a team its UUID, of an enterprise's tenant its slug. */
const colonyId = (tenant: string): string => (tenantKind(tenant) === "team" ? teamId(tenant) : tenant);
