/** The HTTP routes of sources and routers; on the wire a source is a `stimulus route`. */
import { Type } from "@sinclair/typebox";
import { reply } from "../../../http/answer.ts";
import { listSchema, pageOf } from "../../../http/paging.ts";
import { type Call, defineRoute, jsonBody, type Route, uuidParam } from "../../../http/route.ts";
import { auditedBy } from "../../audit/port.ts";
import type { Changer } from "./parts.ts";
import type { Routers } from "./routers/service.ts";
import {
  ChangedSource,
  NewSource,
  Rotated,
  Rotation,
  RouterDeleted,
  RouterRecord,
  RouterRequest,
  SourceChange,
  SourceDeleted,
  SourceFilter,
  SourceRecord,
} from "./schema.ts";
import type { SourceService } from "./service.ts";

const base = "/v1/stimulus-routes";
const SourceId = Type.Object({ id: uuidParam() });

const changerOf = (call: Call): Changer => ({ tenant: call.tenant, identity: call.identity, by: auditedBy(call) });

export function sourceRoutes({ sources, routers }: { sources: SourceService; routers: Routers }): readonly Route[] {
  const change = (method: "PATCH" | "PUT") =>
    defineRoute({
      method,
      path: `${base}/:id`,
      summary:
        method === "PATCH"
          ? "Change fields of a source route"
          : "Set every field of a source route; its secret stays unless one is given",
      scope: "stimulus:manage",
      params: SourceId,
      body: jsonBody(SourceChange),
      responses: { 200: ChangedSource },
      refusals: ["route_not_found", "immutable_field", "unknown_workflow", "reserved_source", "secret_forbidden"],
      handler: (call) => sources[method === "PATCH" ? "patch" : "replace"](changerOf(call), call.params.id, call.body),
    });
  return [
    ...routerRoutes(routers),
    defineRoute({
      method: "GET",
      path: base,
      summary: "The tenant's source routes, by source",
      scope: "stimulus:list",
      query: SourceFilter,
      responses: { 200: listSchema("routes", SourceRecord) },
      handler: (call) => sources.list(call.tenant, call.query.source ?? null, pageOf(call.query, 1)),
    }),
    defineRoute({
      method: "POST",
      path: base,
      summary: "Configure a source of webhooks and stimuli",
      scope: "stimulus:manage",
      body: jsonBody(NewSource),
      responses: { 201: ChangedSource },
      refusals: ["route_exists", "reserved_source", "unknown_workflow", "quota_exceeded", "secret_forbidden"],
      handler: async (call) => {
        const record = await sources.create(changerOf(call), call.body);
        return reply(201, record, { Location: `${base}/${record.id}` });
      },
    }),
    defineRoute({
      method: "GET",
      path: `${base}/:id`,
      summary: "One source route",
      scope: "stimulus:read",
      params: SourceId,
      responses: { 200: SourceRecord },
      refusals: ["route_not_found"],
      handler: (call) => sources.detail(call.tenant, call.params.id),
    }),
    change("PATCH"),
    change("PUT"),
    defineRoute({
      method: "DELETE",
      path: `${base}/:id`,
      summary: "Remove a source route; stimuli it brought stay",
      scope: "stimulus:manage",
      params: SourceId,
      responses: { 200: SourceDeleted },
      refusals: ["route_not_found"],
      handler: (call) => sources.remove(changerOf(call), call.params.id),
    }),
    defineRoute({
      method: "POST",
      path: `${base}/:id/rotate-secret`,
      summary: "Put a new secret in force; the one before stays valid for a while",
      scope: "stimulus:manage",
      params: SourceId,
      body: jsonBody(Rotation, { optional: true }),
      responses: { 200: Rotated },
      refusals: ["route_not_found", "secret_forbidden"],
      handler: (call) => sources.rotate(changerOf(call), call.params.id, call.body),
    }),
  ];
}

function routerRoutes(routers: Routers): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: `${base}/router`,
      summary: "The agent that picks a workflow where a source's route names none",
      scope: "stimulus:read",
      responses: { 200: RouterRecord },
      handler: (call) => routers.detail(call.tenant),
    }),
    defineRoute({
      method: "PUT",
      path: `${base}/router`,
      summary: "Configure the router",
      scope: "stimulus:manage",
      body: jsonBody(RouterRequest),
      responses: { 200: RouterRecord },
      refusals: ["agent_not_found", "unknown_workflow"],
      handler: (call) => routers.put(changerOf(call), call.body),
    }),
    defineRoute({
      method: "DELETE",
      path: `${base}/router`,
      summary: "Do without a router",
      scope: "stimulus:manage",
      responses: { 200: RouterDeleted },
      handler: (call) => routers.remove(changerOf(call)),
    }),
  ];
}
