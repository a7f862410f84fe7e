/** The routes of volumes; see docs/reference/volumes.md. */
import { Type } from "@sinclair/typebox";
import type { TenantTerms } from "../../../actors/policy/quota.ts";
import { reply } from "../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../http/idempotency.ts";
import { listOf, listSchema, pageOf } from "../../http/paging.ts";
import { type Call, defineRoute, jsonBody, type Route } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Audit } from "../audit/port.ts";
import type { StorageViolations } from "../storage-violations/port.ts";
import { recordingRefusals } from "./files/refusals.ts";
import { fileRoutes } from "./files/routes.ts";
import type { Backend } from "./records.ts";
import type { Volumes } from "./runs/execution-volumes.ts";
import { ChangeBody, CreateBody, ListQuery, QuotaBody, VolumeBody, VolumeId } from "./schema.ts";
import { createVolumeService } from "./service.ts";

export interface VolumeRoutesOptions {
  readonly sql: Sql;
  /** Where the bytes of volumes lie that are made. */
  readonly backend: Backend;
  readonly volumes: Volumes;
  readonly audit: Audit;
  readonly recordViolation: StorageViolations["recordViolation"];
  /** What a tenant may have, as it stands now. */
  readonly terms: (tenant: string) => Promise<TenantTerms>;
  /** Unix ms. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export function volumeRoutes(options: VolumeRoutesOptions): readonly Route[] {
  const { sql, backend, volumes, audit, terms, now, newId, recordViolation } = options;
  const service = createVolumeService({ sql, backend, volumes, audit, terms, newId });
  type OneCall = Call<{ id: string }>;
  const find = (call: OneCall) => service.find(call, call.params.id);
  const read = { scope: "volume:read" } as const;
  const write = { scope: "volume:write" } as const;

  const routes: readonly Route[] = [
    defineRoute({
      method: "POST",
      path: "/v1/volumes",
      summary: "Make a volume",
      ...write,
      body: jsonBody(CreateBody),
      headers: IdempotencyHeaders,
      responses: { 201: VolumeBody },
      refusals: ["quota_exceeded", "volume_label_taken", "invalid_volume"],
      handler: (call) =>
        idempotent(call, sql, async (id) => reply(201, await service.create(call, id, call.body)), newId),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/volumes",
      summary: "The volumes the caller may see, oldest first",
      ...read,
      query: ListQuery,
      responses: {
        200: Type.Composite([
          listSchema("volumes", VolumeBody),
          Type.Object({ total_count: Type.Integer(), total_quota_bytes: Type.Integer() }),
        ]),
      },
      handler: async (call) => {
        const page = pageOf(call.query, 2);
        const { items, positions, total, quotaBytes } = await service.list(call, call.query.label ?? null, page);
        const list = listOf("volumes", items, page, ({ id }) => [positions.get(id) ?? "0", id]);
        return { ...list, total_count: total, total_quota_bytes: quotaBytes };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/volumes/quota",
      summary: "What the caller may store, and does",
      ...read,
      responses: { 200: QuotaBody },
      handler: (call) => service.quota(call),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/volumes/:id",
      summary: "One volume",
      ...read,
      params: VolumeId,
      responses: { 200: VolumeBody },
      refusals: ["volume_not_found"],
      handler: async (call) => service.bodyOf(await find(call)),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/volumes/:id",
      summary: "Rename a volume, change its limit or who sees it",
      ...write,
      params: VolumeId,
      body: jsonBody(ChangeBody),
      responses: { 200: VolumeBody },
      refusals: ["quota_exceeded", "volume_not_found", "volume_label_taken", "invalid_volume"],
      handler: async (call) => service.change(call, await find(call), call.body),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/volumes/:id",
      summary: "Delete a volume with everything in it",
      ...write,
      params: VolumeId,
      responses: {
        200: Type.Object({ status: Type.Literal("deleted"), id: Type.String(), success: Type.Literal(true) }),
      },
      refusals: ["volume_not_found", "volume_attached"],
      handler: async (call) => {
        const row = await find(call);
        await service.remove(call, row);
        void volumes.eraseDeleted().catch(() => {});
        return { status: "deleted", id: row.volume_id, success: true };
      },
    }),
    ...fileRoutes({ sql, service, find, now, newId }),
  ];
  return recordingRefusals(routes, { records: volumes.records, recordViolation });
}
