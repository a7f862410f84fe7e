/** The routes of hosts; see docs/reference/edge.md. */
import { media } from "../../../http/answer.ts";
import { listSchema, pageOf } from "../../../http/paging.ts";
import { defineRoute, jsonBody, type Route } from "../../../http/route.ts";
import { EdgeHost, EdgeHostDetail, HostChange, HostId, HostQuery, TagsChange } from "./schema.ts";
import type { Hosts } from "./service.ts";

export function hostRoutes(hosts: Hosts): readonly Route[] {
  const one = { params: HostId, refusals: ["host_not_found"] } as const;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/edge/hosts",
      summary: "The tenant's hosts, by name",
      scope: "aegis.edge.hosts.read",
      query: HostQuery,
      responses: { 200: listSchema("hosts", EdgeHost) },
      handler: ({ tenant, query }) => {
        const { tag = [], label = [], connected, status = null, include_revoked = false } = query;
        return hosts.list(
          tenant,
          {
            ...{ tags: tag, labels: label.map(pairOf), connected: connected ?? null },
            ...{ status, includeRevoked: include_revoked },
          },
          pageOf(query, 2),
        );
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/edge/hosts/:id",
      summary: "One host, with the newest commands that it was given",
      scope: "aegis.edge.hosts.read",
      ...one,
      responses: { 200: EdgeHostDetail },
      handler: ({ tenant, params }) => hosts.one(tenant, params.id),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/edge/hosts/:id",
      summary: "Change a host's name or tags, or keep new commands from it; what is absent stays",
      scope: "aegis.edge.hosts.write",
      ...one,
      body: jsonBody(HostChange),
      responses: { 200: EdgeHost },
      handler: (call) => hosts.update(call, call.params.id, call.body),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/edge/hosts/:id/tags",
      summary: "Add tags to a host and take others away, in one step",
      scope: "aegis.edge.hosts.write",
      ...one,
      body: jsonBody(TagsChange),
      responses: { 200: EdgeHost },
      handler: (call) => hosts.retag(call, call.params.id, call.body),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/edge/hosts/:id",
      summary: "Revoke a host for ever: its keys open nothing any more",
      scope: "aegis.edge.hosts.write",
      whileSuspended: true,
      ...one,
      responses: { 204: media() },
      handler: async (call) => {
        await hosts.revoke(call, call.params.id);
        return new Response(null, { status: 204 });
      },
    }),
  ];
}

function pairOf(label: string): readonly [string, string] {
  const at = label.indexOf("=");
  return [label.slice(0, at), label.slice(at + 1)];
}
