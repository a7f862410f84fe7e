/** The routes of people; see docs/reference/embedded-issuer.md. */

import { isEnterpriseSlug } from "../../../actors/identity/tenant.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { reply } from "../../http/answer.ts";
import { type AnswerSeal, IdempotencyHeaders, idempotent } from "../../http/idempotency.ts";
import { listOf, listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, jsonBody, type Route } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Administration, notConfigured } from "./administration.ts";
import {
  ChangeBody,
  DeletedBody,
  InviteBody,
  InvitedBody,
  ListQuery,
  PersonBody,
  PersonId,
  RealmQuery,
  ResetBody,
  ResetSentBody,
} from "./schema.ts";

export interface PeopleRoutesOptions {
  readonly sql: Sql;
  /** Null: the service is no identity provider of its own. */
  readonly administration: Administration | null;
  readonly seal: AnswerSeal;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export function peopleRoutes({ sql, administration, seal, newId }: PeopleRoutesOptions): readonly Route[] {
  const configured = () => (administration === null ? notConfigured() : null);
  const of = (): Administration => {
    if (administration === null) throw notConfigured();
    return administration;
  };
  const shared = { configured, refusals: ["issuer_not_configured", "operator_required"] } as const;
  const one = { ...shared, refusals: [...shared.refusals, "person_not_found", "owner_only"] } as const;

  return [
    defineRoute({
      ...shared,
      method: "GET",
      path: "/v1/people",
      summary: "The people of a realm of the embedded identity provider, oldest first",
      scope: "colony:read",
      query: ListQuery,
      responses: { 200: listSchema("people", PersonBody) },
      handler: async (call) => {
        const realm = of().realmOf(call, call.query.realm);
        const page = pageOf(call.query, 2);
        const found = await of().list(realm, call.query.status, call.query.q, page);
        const positions = new Map(found.map(({ body, position }) => [body.id, position]));
        const bodies = found.map(({ body }) => body);
        return listOf("people", bodies, page, ({ id }) => [positions.get(id) ?? "0", id]);
      },
    }),
    defineRoute({
      ...shared,
      method: "POST",
      path: "/v1/people",
      summary: "Invite an operator or a consumer",
      scope: "colony:write",
      query: RealmQuery,
      body: jsonBody(InviteBody),
      headers: IdempotencyHeaders,
      responses: { 201: InvitedBody },
      refusals: [...shared.refusals, "person_exists", "rate_limited"],
      handler: (call) => {
        if (isEnterpriseSlug(call.tenant))
          throw new Problem("operator_required", "People of a tenant are invited by its colony");
        const realm = of().realmOf(call, call.query.realm);
        return idempotent(
          call,
          sql,
          async (id) => reply(201, await of().invite(call, realm, id, call.body)),
          newId,
          seal,
        );
      },
    }),
    defineRoute({
      ...one,
      method: "PATCH",
      path: "/v1/people/:id",
      summary: "Rename, disable, enable or unlock a person, or change an operator's role",
      scope: "colony:write",
      params: PersonId,
      query: RealmQuery,
      body: jsonBody(ChangeBody),
      responses: { 200: PersonBody },
      handler: async (call) => {
        const realm = of().realmOf(call, call.query.realm);
        return of().change(call, await of().find(realm, call.params.id), call.body);
      },
    }),
    defineRoute({
      ...one,
      method: "POST",
      path: "/v1/people/:id/reset",
      summary: "Send a person a link to a new password",
      scope: "colony:write",
      params: PersonId,
      query: RealmQuery,
      body: jsonBody(ResetBody, { optional: true }),
      headers: IdempotencyHeaders,
      responses: { 200: ResetSentBody },
      refusals: [...one.refusals, "invalid_state", "rate_limited"],
      handler: async (call) => {
        const realm = of().realmOf(call, call.query.realm);
        const person = await of().find(realm, call.params.id);
        const work = async () => {
          const reset_url = await of().reset(call, person, call.body.totp ?? false);
          return reply(200, { status: "reset_sent" as const, reset_url });
        };
        return idempotent(call, sql, work, newId, seal);
      },
    }),
    defineRoute({
      ...one,
      method: "DELETE",
      path: "/v1/people/:id",
      summary: "Delete a person, with sessions, keys and memberships",
      scope: "colony:write",
      params: PersonId,
      query: RealmQuery,
      responses: { 200: DeletedBody },
      handler: async (call) => {
        const realm = of().realmOf(call, call.query.realm);
        const person = await of().find(realm, call.params.id);
        await of().remove(call, person);
        return { status: "deleted", id: person.id };
      },
    }),
  ];
}
