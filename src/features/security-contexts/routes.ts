/** The routes of security contexts; see docs/reference/security-contexts.md. */

import { reply } from "../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../http/idempotency.ts";
import { listOf, listSchema, pageOf } from "../../http/paging.ts";
import { type Call, defineRoute, jsonBody, type Route } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import {
  ContextBody,
  ContextPath,
  CreateBody,
  DeletedBody,
  DeleteQuery,
  EvaluateBody,
  ListQuery,
  ReplaceBody,
  ReplaceHeaders,
  VerdictBody,
  WriteQuery,
} from "./schema.ts";
import { type ContextService, versionMismatch } from "./service.ts";

export interface ContextRoutesOptions {
  readonly sql: Sql;
  readonly service: ContextService;
  readonly evaluate: (call: Call, name: string, body: EvaluateBody) => Promise<VerdictBody>;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

/** Bytes of a context as it is written. */
const limit = 256 * 1024;

const etag = ({ metadata }: ContextBody) => ({ ETag: `"${metadata.version}"` });

export function contextRoutes({ sql, service, evaluate, newId }: ContextRoutesOptions): readonly Route[] {
  const read = { scope: "security_context:read" } as const;
  const write = { scope: "security_context:write" } as const;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/security-contexts",
      summary: "The security contexts of the tenant and of the system, by name",
      ...read,
      query: ListQuery,
      responses: { 200: listSchema("security_contexts", ContextBody) },
      handler: async (call) => {
        const page = pageOf(call.query, 1);
        return listOf("security_contexts", await service.list(call.tenant, page), page, ({ name }) => [name]);
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/security-contexts",
      summary: "Make a security context",
      ...write,
      body: jsonBody(CreateBody, { limit }),
      headers: IdempotencyHeaders,
      query: WriteQuery,
      responses: { 200: ContextBody, 201: ContextBody },
      refusals: ["quota_exceeded", "operator_required", "context_exists"],
      handler: async (call) => {
        if (call.query.dry_run === true)
          return reply(200, await service.foresee(call, call.body.name, call.body, true));
        const create = async (id: string) => {
          const made = await service.create(call, id, call.body);
          return reply(201, made, etag(made));
        };
        return idempotent(call, sql, create, newId);
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/security-contexts/:name",
      summary: "One security context",
      ...read,
      params: ContextPath,
      responses: { 200: ContextBody },
      refusals: ["security_context_not_found"],
      handler: async (call) => {
        const found = await service.find(call.tenant, call.params.name);
        return reply(200, found, etag(found));
      },
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/security-contexts/:name",
      summary: "Replace a security context; the change binds running executions and sessions within five seconds",
      ...write,
      params: ContextPath,
      body: jsonBody(ReplaceBody, { limit }),
      query: WriteQuery,
      headers: ReplaceHeaders,
      responses: { 200: ContextBody },
      refusals: ["operator_required", "security_context_not_found", "version_mismatch"],
      handler: async (call) => {
        const condition = conditionOf(call.request.headers);
        if (call.query.dry_run === true)
          return reply(200, await service.foresee(call, call.params.name, call.body, false));
        const replaced = await service.replace(call, call.params.name, newId(), call.body, condition);
        return reply(200, replaced, etag(replaced));
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/security-contexts/:name",
      summary: "Delete a security context: calls that it binds are refused from then on",
      ...write,
      params: ContextPath,
      query: DeleteQuery,
      responses: { 200: DeletedBody },
      refusals: ["operator_required", "security_context_not_found", "context_in_use"],
      handler: async (call) => {
        const { name } = call.params;
        await service.remove(call, name, call.query.force ?? false);
        return { status: "deleted", name };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/security-contexts/:name/evaluate",
      summary: "Whether a call would be allowed now; nothing is counted",
      ...read,
      params: ContextPath,
      body: jsonBody(EvaluateBody),
      responses: { 200: VerdictBody },
      refusals: ["security_context_not_found", "execution_not_found"],
      handler: (call) => evaluate(call, call.params.name, call.body),
    }),
  ];
}

/** The version that `If-Match` names; null: there is no condition. @throws Problem 412 for anything else */
function conditionOf(headers: Headers): number | null {
  const given = headers.get("if-match")?.trim();
  if (given === undefined || given === "*") return null;
  const [, version] = /^"?(\d{1,15})"?$/.exec(given) ?? [];
  if (version === undefined) throw versionMismatch();
  return Number(version);
}
