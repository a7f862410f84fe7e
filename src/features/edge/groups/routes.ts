/** The routes of groups; see docs/reference/edge.md. */
import { Type } from "@sinclair/typebox";
import { media, reply } from "../../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../../http/idempotency.ts";
import { listSchema, pageOf, pagingQuery } from "../../../http/paging.ts";
import { defineRoute, jsonBody, type Route } from "../../../http/route.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { EdgeGroup, EdgeGroupDetail, GroupChange, GroupId, NewGroup } from "./schema.ts";
import type { Groups } from "./service.ts";

export interface GroupRoutesOptions {
  readonly sql: Sql;
  readonly groups: Groups;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

const reading = { scope: { anyOf: ["aegis.edge.hosts.read", "aegis.edge.groups.write"] } } as const;
const writing = { scope: "aegis.edge.groups.write" } as const;

export function groupRoutes({ sql, groups, newId }: GroupRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/edge/groups",
      summary: "The tenant's groups of hosts, by name",
      ...reading,
      query: Type.Object(pagingQuery),
      responses: { 200: listSchema("groups", EdgeGroup) },
      handler: ({ tenant, query }) => groups.list(tenant, pageOf(query, 2)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/edge/groups",
      summary: "Make a group of hosts: by a selector, by name, or both",
      ...writing,
      body: jsonBody(NewGroup),
      headers: IdempotencyHeaders,
      responses: { 200: EdgeGroup },
      refusals: ["conflict", "quota_exceeded"],
      handler: (call) =>
        idempotent(call, sql, async (id) => reply(200, await groups.create(call, id, call.body)), newId),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/edge/groups/:id",
      summary: "One group with its members as they are now",
      ...reading,
      params: GroupId,
      responses: { 200: EdgeGroupDetail },
      refusals: ["group_not_found"],
      handler: ({ tenant, params }) => groups.one(tenant, params.id),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/edge/groups/:id",
      summary: "Change a group; what is absent stays, pinned members are replaced",
      ...writing,
      params: GroupId,
      body: jsonBody(GroupChange),
      responses: { 200: EdgeGroup },
      refusals: ["group_not_found", "conflict"],
      handler: (call) => groups.update(call, call.params.id, call.body),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/edge/groups/:id",
      summary: "Delete a group; its hosts stay",
      ...writing,
      params: GroupId,
      responses: { 204: media() },
      refusals: ["group_not_found"],
      handler: async (call) => {
        await groups.remove(call, call.params.id);
        return new Response(null, { status: 204 });
      },
    }),
  ];
}
