/** The routes of the files in a volume; see docs/reference/volumes.md. */
import { closeSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { invalidField } from "../../../../actors/kernel/problem.ts";
import { reply } from "../../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../../http/idempotency.ts";
import { listOf, listSchema, type Page, pageOf } from "../../../http/paging.ts";
import { type Call, defineRoute, jsonBody, type Route } from "../../../http/route.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { viewOf } from "../../tools/fs/port.ts";
import type { VolumeRow } from "../records.ts";
import { FilesQuery, MkdirBody, MoveBody, PathQuery, StatQuery, Uploaded, UploadQuery, VolumeId } from "../schema.ts";
import type { VolumeService } from "../service.ts";
import { createChanges } from "./changes.ts";
import { createDigests, sha256Of } from "./digests.ts";
import { fileContent, sendFile } from "./download.ts";
import { FileEntry, fileEntry, listFiles, lookAt, openForReading, typeOfName } from "./files.ts";
import { answering, readPath } from "./paths.ts";
import { upload } from "./upload.ts";
import { UploadRoom } from "./upload-room.ts";

/** Seconds that deleting many files or reading a large one through may take. */
const longTimeoutSeconds = 240;

type OneCall = Call<{ id: string }>;

/** @param find the volume that a call names, if the caller may see it */
export interface FileRoutesOptions {
  readonly sql: Sql;
  readonly service: VolumeService;
  readonly find: (call: OneCall) => Promise<VolumeRow>;
  /** Unix ms. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export function fileRoutes({ sql, service, find, now, newId }: FileRoutesOptions): readonly Route[] {
  const moment = () => new Date(now()).toISOString();
  const digests = createDigests(sql);
  const changes = createChanges(service, digests);
  const room = new UploadRoom();
  const viewFor = (row: VolumeRow) => viewOf(service.layout.volume(row.volume_id), "/");
  const read = { scope: "volume:read" } as const;
  const write = { scope: "volume:write" } as const;

  return [
    defineRoute({
      method: "GET",
      path: "/v1/volumes/:id/files",
      summary: "What lies in a directory, directories first, then by name",
      ...read,
      params: VolumeId,
      query: FilesQuery,
      responses: { 200: Type.Composite([listSchema("entries", FileEntry), Type.Object({ path: Type.String() })]) },
      refusals: ["path_not_found", "volume_not_found", "invalid_path"],
      handler: async (call) => {
        const path = readPath(call.query.path);
        const page = pageOf(call.query, 2);
        const row = await find(call);
        const job = {
          view: viewFor(row),
          path,
          recursive: false,
          limit: page.offset + page.limit + 1,
          after: afterOf(page),
        };
        const { entries } = await answering(() => listFiles(call.tenant, job, call.signal));
        const shown = entries.slice(page.offset);
        const known = await digests.known(row.volume_id, shown);
        const items = shown.map((entry) => fileEntry(entry, known.get(entry.path) ?? null));
        return { ...listOf("entries", items, page, ({ is_dir, name }) => [is_dir ? "d" : "f", name]), path };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/volumes/:id/files",
      summary: "Delete a file, or a directory with everything in it",
      ...write,
      params: VolumeId,
      query: PathQuery,
      responses: { 200: Type.Object({ status: Type.Literal("deleted"), path: Type.String() }) },
      timeoutSeconds: longTimeoutSeconds,
      refusals: ["path_not_found", "volume_not_found", "invalid_path"],
      handler: async (call) => {
        const path = readPath(call.query.path);
        await changes.remove(await find(call), path, call.signal);
        return { status: "deleted", path };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/volumes/:id/files/download",
      summary: "The bytes of a file",
      ...read,
      params: VolumeId,
      query: PathQuery,
      responses: fileContent,
      timeoutSeconds: longTimeoutSeconds,
      refusals: ["path_not_found", "volume_not_found", "range_not_satisfiable", "invalid_path", "is_a_directory"],
      handler: async (call) => {
        const path = readPath(call.query.path);
        const row = await find(call);
        const content = await contentOf(row, path, call.signal);
        const file = await answering(() => openForReading(viewFor(row), path));
        return sendFile(call.request, file, { type: content.mime_type, etag: `"${content.sha256}"` });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/volumes/:id/files/stat",
      summary: "One file or directory",
      ...read,
      params: VolumeId,
      query: StatQuery,
      responses: { 200: Type.Composite([FileEntry, Type.Object({ size: Type.Integer() })]) },
      timeoutSeconds: longTimeoutSeconds,
      refusals: ["path_not_found", "volume_not_found", "invalid_path"],
      handler: async (call) => {
        const path = readPath(call.query.path);
        const row = await find(call);
        const entry = await answering(() => lookAt(viewFor(row), path));
        const content = entry.directory ? null : await contentOf(row, path, call.signal);
        return { ...fileEntry(entry, content), size: entry.size };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/volumes/:id/files/upload",
      summary: "Put a file into a volume: a form, or the bytes themselves",
      ...write,
      params: VolumeId,
      query: UploadQuery,
      responses: { 200: Uploaded },
      refusals: [
        "malformed_body",
        "body_too_large",
        "unsupported_media_type",
        "quota_exceeded",
        "path_not_found",
        "volume_not_found",
        "file_too_large",
        "invalid_path",
        "is_a_directory",
        "missing_file",
      ],
      handler: async (call) => {
        const path = call.query.path ?? null;
        // What can be told of it is told before the volume is looked up.
        if (path !== null) readPath(path);
        return upload(service, digests, room, call, await find(call), call.request, path);
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/volumes/:id/files/mkdir",
      summary: "Make a directory and its parents",
      ...write,
      params: VolumeId,
      query: UploadQuery,
      body: jsonBody(MkdirBody, { optional: true }),
      headers: IdempotencyHeaders,
      responses: {
        200: Type.Object({ path: Type.String(), created_at: Type.String(), status: Type.Literal("created") }),
      },
      refusals: [
        "quota_exceeded",
        "path_not_found",
        "volume_not_found",
        "destination_exists",
        "invalid_path",
        "is_a_directory",
      ],
      handler: async (call) => {
        const path = readPath(required("path", call.body.path ?? call.query.path));
        return idempotent(
          call,
          sql,
          async () => {
            await changes.makeDirectory(await find(call), path, call.signal);
            return reply(200, { path, created_at: moment(), status: "created" });
          },
          newId,
        );
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/volumes/:id/files/move",
      summary: "Move or rename a file or a directory",
      ...write,
      params: VolumeId,
      body: jsonBody(MoveBody),
      headers: IdempotencyHeaders,
      responses: { 200: movedSchema },
      refusals: [
        "quota_exceeded",
        "path_not_found",
        "volume_not_found",
        "destination_exists",
        "invalid_path",
        "is_a_directory",
      ],
      handler: async (call) => {
        const { body } = call;
        const from = readPath(required("from", body.from ?? body.source));
        const to = readPath(required("to", body.to ?? body.destination));
        return idempotent(
          call,
          sql,
          async () => {
            await changes.move(await find(call), from, to, body.overwrite);
            return reply(200, { from, to, moved_at: moment(), status: "moved" });
          },
          newId,
        );
      },
    }),
  ];

  /** Digest and type of a file, read through if they are not known. @throws Problem 404, 422 */
  async function contentOf(row: VolumeRow, path: string, signal: AbortSignal) {
    const entry = await answering(() => lookAt(viewFor(row), path));
    const known = (await digests.known(row.volume_id, [entry])).get(path);
    if (known !== undefined && !entry.directory) return known;
    const file = await answering(() => openForReading(viewFor(row), path));
    try {
      const content = { sha256: await sha256Of(file.fd, signal), mime_type: typeOfName(file.name) };
      await digests.note(row.volume_id, path, file.stats, content);
      return content;
    } finally {
      closeSync(file.fd);
    }
  }
}

const movedSchema = Type.Object({
  from: Type.String(),
  to: Type.String(),
  moved_at: Type.String(),
  status: Type.Literal("moved"),
});

function required(path: string, value: string | undefined): string {
  if (value !== undefined && value !== "") return value;
  throw invalidField(path, "is required");
}

function afterOf({ after }: Page): { readonly directory: boolean; readonly name: string } | null {
  if (after === null) return null;
  const [kind = "d", name = ""] = after;
  return { directory: kind === "d", name };
}
