/** The routes of secrets; see docs/reference/secrets.md. */
import { Type } from "@sinclair/typebox";
import { reply } from "../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../http/idempotency.ts";
import { listOf, listSchema, pageOf } from "../../http/paging.ts";
import { type Call, defineRoute, jsonBody, type Route } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Encryption, withoutDigest } from "../encryption/port.ts";
import { readCondition, readPath, readPrefix } from "./path.ts";
import {
  DeletedBody,
  ListQuery,
  SecretBody,
  SecretEntryBody,
  SecretPath,
  WriteBody,
  WriteHeaders,
  WrittenBody,
} from "./schema.ts";
import type { SecretService } from "./service.ts";

export interface SecretRoutesOptions {
  readonly sql: Sql;
  readonly secrets: SecretService;
  readonly encryption: Pick<Encryption, "fingerprint">;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

const noStore = { "Cache-Control": "no-store" };
const etag = (version: number) => ({ ETag: `"${version}"` });

export function secretRoutes({ sql, secrets, encryption, newId }: SecretRoutesOptions): readonly Route[] {
  type WriteCall = Call<{ "*": string }, unknown, WriteBody>;
  async function write(call: WriteCall, workId: string) {
    const path = readPath(call.params["*"]);
    const written = await secrets.write(call, path, call.body, readCondition(call.request.headers), workId);
    return reply(200, written, { ...noStore, ...etag(written.version) });
  }
  const writing = {
    path: "/v1/secrets/*",
    summary: "Write a secret",
    scope: "secret:write",
    params: SecretPath,
    body: jsonBody(WriteBody),
    responses: { 200: WrittenBody },
    refusals: ["invalid_path", "quota_exceeded", "version_conflict", "secrets_unavailable"],
  } as const;

  return [
    defineRoute({
      method: "GET",
      path: "/v1/secrets",
      summary: "The secrets of the tenant by path, without their values",
      scope: "secret:list",
      query: ListQuery,
      responses: { 200: listSchema("secrets", SecretEntryBody) },
      refusals: ["invalid_path", "secrets_unavailable"],
      handler: async (call) => {
        const page = pageOf(call.query, 1);
        const entries = await secrets.list(call, {
          prefix: readPrefix(call.query.path_prefix ?? ""),
          after: page.after?.[0] ?? null,
          offset: page.offset,
          limit: page.limit + 1,
        });
        const items = entries.map(({ path, updatedAt, sizeBytes, version }) => ({
          name: path,
          last_modified: updatedAt?.toISOString() ?? null,
          size_bytes: sizeBytes,
          version,
        }));
        return reply(
          200,
          listOf("secrets", items, page, ({ name }) => [name]),
          noStore,
        );
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/secrets/*",
      summary: "A secret with its value; every reading is on record",
      scope: "secret:read",
      params: SecretPath,
      responses: { 200: SecretBody },
      refusals: ["invalid_path", "secret_not_found", "secrets_unavailable", "decryption_failed"],
      handler: async (call) => {
        const secret = await secrets.read(call, readPath(call.params["*"]));
        return reply(200, secret, { ...noStore, ...etag(secret.version) });
      },
    }),
    defineRoute({
      method: "PUT",
      ...writing,
      headers: WriteHeaders,
      handler: (call) => write(call, newId()),
    }),
    defineRoute({
      method: "POST",
      ...writing,
      headers: Type.Composite([WriteHeaders, IdempotencyHeaders]),
      handler: (call) => idempotent(withoutDigest(call, encryption), sql, (id) => write(call, id), newId),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/secrets/*",
      summary: "Delete a secret: its value is erased",
      whileSuspended: true,
      scope: "secret:delete",
      params: SecretPath,
      responses: { 200: DeletedBody },
      refusals: ["invalid_path", "secret_not_found", "secrets_unavailable"],
      handler: async (call) => reply(200, await secrets.remove(call, readPath(call.params["*"])), noStore),
    }),
  ];
}
