/** The routes of invitations; see docs/reference/colony.md. */

import { Type } from "@sinclair/typebox";
import type { InvitedRole } from "../../../../actors/identity/membership.ts";
import { invalidField } from "../../../../actors/kernel/problem.ts";
import { reply } from "../../../http/answer.ts";
import { type AnswerSeal, IdempotencyHeaders, idempotent } from "../../../http/idempotency.ts";
import { listOf, listSchema, pageOf } from "../../../http/paging.ts";
import { type Call, defineRoute, jsonBody, type Route } from "../../../http/route.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { colonyCodes } from "../codes.ts";
import type { Colonies } from "../context.ts";
import { unplaced } from "../placed.ts";
import {
  Accepted,
  ColonyQuery,
  InvitationBody,
  InvitationCancelled,
  InvitationId,
  InvitationMade,
  InvitationQuery,
  InvitationToken,
  MemberInvited,
  NewInvitation,
  NewMember,
} from "../schema.ts";
import type { TeamService } from "../teams/service.ts";
import { type InvitationService, invitationBody } from "./service.ts";

export interface InvitationRoutesOptions {
  readonly sql: Sql;
  readonly colonies: Colonies;
  readonly invitations: InvitationService;
  readonly teams: TeamService;
  /** Of answers with a token. */
  readonly seal: AnswerSeal;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

const inviteRefusals = [...colonyCodes, "tier_not_permitted", "seat_cap_reached", "already_member"] as const;
const acceptRefusals = [
  "colony_suspended",
  "email_mismatch",
  "identity_kind_not_allowed",
  "invalid_invitation",
  "invitation_expired",
  "invitation_not_pending",
  "already_member",
] as const;

export function invitationRoutes({
  sql,
  colonies,
  invitations,
  teams,
  seal,
  newId,
}: InvitationRoutesOptions): readonly Route[] {
  async function accept(call: Call, token: string) {
    const { tenant, member } = await invitations.accept(call, token);
    return { team: await teams.one(tenant, member.role), member };
  }

  return [
    defineRoute({
      method: "POST",
      path: "/v1/colony/members",
      summary: "Invite an address",
      tag: "colony",
      scope: "colony:write",
      query: ColonyQuery,
      body: jsonBody(NewMember),
      headers: IdempotencyHeaders,
      responses: { 201: MemberInvited },
      refusals: inviteRefusals,
      handler: (call) =>
        idempotent(
          call,
          sql,
          async (id) => {
            const { email, role = "member" } = call.body;
            const { row, token, link } = await invitations.invite(call, id, email, role);
            return reply(201, {
              id: row.id,
              user_id: row.id,
              membership_id: null,
              realm: null,
              email: row.address,
              name: null,
              role: row.role,
              status: "invited" as const,
              invited_at: row.created_at.toISOString(),
              joined_at: null,
              token,
              accept_url: link,
              expires_at: row.expires_at.toISOString(),
            });
          },
          newId,
          seal,
        ),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/colony/invitations",
      summary: "The invitations of the colony, newest first",
      tag: "colony",
      scope: "colony:read",
      whileSuspended: true,
      query: InvitationQuery,
      responses: { 200: listSchema("invitations", InvitationBody) },
      refusals: colonyCodes,
      handler: async (call) => {
        const page = pageOf(call.query, 2);
        const rows = await invitations.list(await colonies.of(call, true), call.query.status ?? null, page);
        return unplaced(
          "invitations",
          listOf("invitations", rows, page, ({ place }) => place),
        );
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/colony/invitations",
      summary: "Invite an address",
      tag: "colony",
      scope: "colony:write",
      query: ColonyQuery,
      body: jsonBody(NewInvitation),
      headers: IdempotencyHeaders,
      responses: { 201: InvitationMade },
      refusals: inviteRefusals,
      handler: (call) =>
        idempotent(
          call,
          sql,
          async (id) => {
            const { address, role } = invitee(call.body);
            const { row, token } = await invitations.invite(call, id, address, role);
            const { created_at: _, ...invitation } = invitationBody(row);
            return reply(201, { invitation: { ...invitation, token } });
          },
          newId,
          seal,
        ),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/colony/invitations/:id",
      summary: "Withdraw an invitation",
      tag: "colony",
      scope: "colony:write",
      params: InvitationId,
      query: ColonyQuery,
      responses: { 200: InvitationCancelled },
      refusals: [...colonyCodes, "tier_not_permitted", "invalid_invitation", "invitation_not_pending"],
      handler: async (call) => {
        await invitations.cancel(call, call.params.id);
        return { status: "cancelled", id: call.params.id };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/colony/invitations/accept",
      summary: "Accept an invitation to the caller's address",
      tag: "colony",
      peopleOnly: true,
      body: jsonBody(InvitationToken),
      headers: IdempotencyHeaders,
      responses: { 200: Accepted },
      refusals: acceptRefusals,
      handler: (call) => idempotent(call, sql, async () => reply(200, await accept(call, call.body.token)), newId),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/colony/invitations/:token/accept",
      summary: "Accept an invitation to the caller's address",
      tag: "colony",
      peopleOnly: true,
      params: Type.Object({ token: Type.String() }),
      headers: IdempotencyHeaders,
      responses: { 200: Accepted },
      refusals: acceptRefusals,
      handler: (call) => idempotent(call, sql, async () => reply(200, await accept(call, call.params.token)), newId),
    }),
  ];
}

/** Either name of the address. @throws Problem 422 for none, and for two that differ */
function invitee({ invitee_email, email, role = "member" }: typeof NewInvitation.static): {
  readonly address: string;
  readonly role: InvitedRole;
} {
  const address = invitee_email ?? email;
  if (address === undefined) throw invalidField("invitee_email", "is required");
  if (email !== undefined && email !== address) throw invalidField("email", "names another address than invitee_email");
  return { address, role };
}
