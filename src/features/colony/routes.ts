/** The routes of teams and colonies; see docs/reference/colony.md. */

import { media, reply } from "../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../http/idempotency.ts";
import { listOf, listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, jsonBody, type Route } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { colonyCodes } from "./codes.ts";
import type { Colonies } from "./context.ts";
import type { MemberService } from "./members/service.ts";
import { unplaced } from "./placed.ts";
import type { SamlService } from "./saml/service.ts";
import {
  ColonyListQuery,
  ColonyQuery,
  MemberBody,
  MemberId,
  MemberRemoved,
  NewRole,
  NewSaml,
  NewTeam,
  RoleOf,
  SamlBody,
  SubscriptionBody,
  TeamBody,
  TeamId,
  TeamListQuery,
  TeamMade,
} from "./schema.ts";
import type { createSubscriptionView } from "./subscription/service.ts";
import type { TeamService } from "./teams/service.ts";

export interface ColonyRoutesOptions {
  readonly sql: Sql;
  readonly colonies: Colonies;
  readonly teams: TeamService;
  readonly members: MemberService;
  readonly saml: SamlService;
  readonly subscription: ReturnType<typeof createSubscriptionView>;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

const read = { scope: "colony:read", tag: "colony", whileSuspended: true } as const;
const write = { scope: "colony:write", tag: "colony" } as const;

/** Teams have two paths. */
const teamPaths = ["/v1/teams", "/v1/colony/teams"] as const;

export function colonyRoutes(options: ColonyRoutesOptions): readonly Route[] {
  return [...teamPaths.flatMap((path) => teamRoutes(path, options)), ...memberRoutes(options), ...planRoutes(options)];
}

function teamRoutes(path: (typeof teamPaths)[number], { sql, teams, newId }: ColonyRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path,
      summary: "The caller's teams",
      ...read,
      query: TeamListQuery,
      responses: { 200: listSchema("teams", TeamBody) },
      handler: async (call) => {
        const page = pageOf(call.query, 2);
        const rows = await teams.list(call, page);
        return unplaced(
          "teams",
          listOf("teams", rows, page, ({ place, slug }) => [place, slug]),
        );
      },
    }),
    defineRoute({
      method: "POST",
      path,
      summary: "Make a team",
      ...write,
      peopleOnly: true,
      body: jsonBody(NewTeam),
      headers: IdempotencyHeaders,
      responses: { 201: TeamMade },
      refusals: ["personal_tier_too_low", "quota_exceeded", "email_required"],
      handler: (call) =>
        idempotent(
          call,
          sql,
          async (id) => {
            const team = await teams.create(call, id, call.body);
            return reply(201, { team, ...team });
          },
          newId,
        ),
    }),
    defineRoute({
      method: "DELETE",
      path: `${path}/:id`,
      summary: "Delete a team with everything in it",
      ...write,
      params: TeamId,
      responses: { 204: media() },
      refusals: ["owner_only"],
      handler: async (call) => {
        await teams.remove(call, call.params.id);
        return new Response(null, { status: 204 });
      },
    }),
  ];
}

function memberRoutes({ colonies, members }: ColonyRoutesOptions): readonly Route[] {
  const roleRefusals = [
    ...colonyCodes,
    "tier_not_permitted",
    "personal_tier_too_low",
    "seat_cap_reached",
    "quota_exceeded",
    "owner_only",
    "not_found",
    "owner_role_immutable",
    "ambiguous_user",
  ] as const;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/colony/members",
      summary: "The members of the colony, and who is invited",
      ...read,
      query: ColonyListQuery,
      responses: { 200: listSchema("members", MemberBody) },
      refusals: colonyCodes,
      handler: async (call) => {
        const page = pageOf(call.query, 2);
        const rows = await members.list(await colonies.of(call, true), call, page);
        return unplaced(
          "members",
          listOf("members", rows, page, ({ place }) => place),
        );
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/colony/members/:id",
      summary: "Remove a member, or withdraw an invitation",
      ...read,
      params: MemberId,
      query: ColonyQuery,
      responses: { 200: MemberRemoved },
      refusals: [...colonyCodes, "tier_not_permitted", "not_found", "owner_role_immutable", "ambiguous_user"],
      handler: async (call) => ({ status: await members.remove(call, call.params.id), id: call.params.id }),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/colony/members/:id",
      summary: "Give a member another role; the owner's goes over",
      ...write,
      params: MemberId,
      query: ColonyQuery,
      body: jsonBody(NewRole),
      responses: { 200: MemberBody },
      refusals: roleRefusals,
      handler: (call) => members.setRole(call, call.params.id, call.body.role),
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/colony/roles",
      summary: "Give a member another role; the owner's goes over",
      ...write,
      query: ColonyQuery,
      body: jsonBody(RoleOf),
      responses: { 200: MemberBody },
      refusals: roleRefusals,
      handler: (call) => members.setRole(call, call.body.user_id, call.body.role),
    }),
  ];
}

function planRoutes({ saml, subscription }: ColonyRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/colony/saml",
      summary: "How the colony's people sign in by their own identity provider",
      ...read,
      query: ColonyQuery,
      responses: { 200: SamlBody },
      refusals: colonyCodes,
      handler: (call) => saml.read(call),
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/colony/saml",
      summary: "Set sign-in by an identity provider of the colony's own",
      ...write,
      query: ColonyQuery,
      body: jsonBody(NewSaml),
      responses: { 200: SamlBody },
      refusals: [...colonyCodes, "tier_not_permitted", "owner_only", "entity_id_taken"],
      handler: (call) => saml.write(call, call.body),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/colony/subscription",
      summary: "What the colony's plan gives, and how much of it is used",
      ...read,
      query: ColonyQuery,
      responses: { 200: SubscriptionBody },
      refusals: colonyCodes,
      handler: (call) => subscription(call),
    }),
  ];
}
