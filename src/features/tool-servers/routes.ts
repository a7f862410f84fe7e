/** The routes of tool servers; see docs/reference/tool-servers.md. */

import { Type } from "@sinclair/typebox";
import { isPlatformOperator } from "../../../actors/identity/identity.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { reply } from "../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../http/idempotency.ts";
import { listOf, listSchema, pageOf, pagingQuery } from "../../http/paging.ts";
import { defineRoute, jsonBody, type Route } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Logs } from "./logs.ts";
import { keptLines } from "./logs.ts";
import {
  Acceptance,
  DeletedToolServer,
  LogQuery,
  NewToolServer,
  ServerLogLine,
  ServerName,
  ServerTool,
  ToolServer,
  ToolServerChange,
} from "./schema.ts";
import type { ToolServers } from "./service.ts";

export interface ToolServerRoutesOptions {
  readonly sql: Sql;
  readonly servers: ToolServers;
  readonly logs: Pick<Logs, "read">;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

const paging = Type.Object({ ...pagingQuery });

export function toolServerRoutes({ sql, servers, logs, newId }: ToolServerRoutesOptions): readonly Route[] {
  const one = { params: ServerName, tag: "tool-servers" } as const;
  const reading = { ...one, scope: "tool_server:read" } as const;
  const writing = { ...one, scope: "tool_server:write" } as const;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/tool-servers",
      summary: "Tool servers of the tenant, and those of all tenants",
      tag: "tool-servers",
      scope: "tool_server:read",
      query: paging,
      responses: { 200: listSchema("tool_servers", ToolServer) },
      handler: (call) => servers.list(call, pageOf(call.query, 1)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/tool-servers",
      summary: "Define a tool server; an enabled one is started",
      tag: "tool-servers",
      scope: "tool_server:write",
      headers: IdempotencyHeaders,
      body: jsonBody(NewToolServer),
      responses: { 201: ToolServer },
      refusals: [
        "operator_required",
        "quota_exceeded",
        "tool_server_exists",
        "secret_forbidden",
        "credential_forbidden",
      ],
      handler: (call) =>
        idempotent(call, sql, async (id) => reply(201, await servers.create(call, id, call.body)), newId),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/tool-servers/:name",
      summary: "One tool server, with its instances on all nodes",
      ...reading,
      responses: { 200: ToolServer },
      refusals: ["tool_server_not_found"],
      handler: async (call) => servers.body(call, await servers.found(call.tenant, call.params.name)),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/tool-servers/:name",
      summary: "Change a tool server; what is absent stays, and every node connects anew",
      ...writing,
      body: jsonBody(ToolServerChange),
      responses: { 200: ToolServer },
      refusals: [
        "operator_required",
        "tool_server_not_found",
        "tool_server_in_file",
        "secret_forbidden",
        "credential_forbidden",
      ],
      handler: (call) => servers.change(call, call.params.name, call.body),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/tool-servers/:name",
      summary: "Take a tool server away; its processes end",
      ...writing,
      responses: { 200: DeletedToolServer },
      refusals: ["operator_required", "tool_server_not_found", "tool_server_in_file"],
      async handler(call) {
        await servers.remove(call, call.params.name);
        return { status: "deleted", name: call.params.name } as const;
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/tool-servers/:name/restart",
      summary: "Connect anew on every node that has a connection, or on one",
      ...writing,
      responses: { 202: ToolServer },
      refusals: ["operator_required", "tool_server_not_found", "invalid_state"],
      handler: async (call) => reply(202, await servers.restart(call, call.params.name)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/tool-servers/:name/accept",
      summary: "Accept tools that changed, or are new, since the server's list was accepted",
      ...writing,
      body: jsonBody(Acceptance, { optional: true }),
      responses: { 200: ToolServer },
      refusals: ["operator_required", "tool_server_not_found"],
      handler: (call) => servers.accept(call, call.params.name, call.body.tools),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/tool-servers/:name/tools",
      summary: "The tools of a server that its definition does not hide",
      ...reading,
      query: paging,
      responses: { 200: listSchema("tools", ServerTool) },
      refusals: ["tool_server_not_found"],
      async handler(call) {
        const page = pageOf(call.query, 1);
        const sorted = await servers.tools(call.tenant, call.params.name);
        const rest = sorted.filter(({ name }) => page.after === null || name > (page.after[0] ?? ""));
        return listOf("tools", rest.slice(page.offset, page.offset + page.limit + 1), page, ({ name }) => [name]);
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/tool-servers/:name/logs",
      summary: "The last lines of its standard error, of all nodes",
      ...reading,
      query: LogQuery,
      responses: { 200: listSchema("logs", ServerLogLine) },
      refusals: ["operator_required", "tool_server_not_found"],
      async handler(call) {
        const row = await servers.found(call.tenant, call.params.name);
        if (row.tenant === null && !isPlatformOperator(call.identity)) {
          throw new Problem("operator_required", "What servers of all tenants write is read by operators");
        }
        const limit = call.query.limit ?? keptLines;
        const lines = await logs.read(row.id, limit);
        const items = lines.map(({ at, node_id, line }) => ({ at: at.toISOString(), node_id, line }));
        return listOf("logs", items, { limit, offset: 0, after: null }, () => []);
      },
    }),
  ];
}
