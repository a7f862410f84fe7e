/** The routes of the files in a volume; see docs/reference/volumes.md. */
import { Type } from "@sinclair/typebox";
import { invalidField } from "../../../../actors/kernel/problem.ts";
import { reply } from "../../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../../http/idempotency.ts";
import { listOf, listSchema, type Page, pageOf } from "../../../http/paging.ts";
import { type Call, defineRoute, jsonBody, type Route } from "../../../http/route.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { answering, readPath } from "../paths.ts";
import type { Content } from "../places/port.ts";
import type { VolumeRow } from "../records.ts";
import {
  FileBytes,
  FilesQuery,
  MkdirBody,
  MoveBody,
  PathQuery,
  StatQuery,
  Uploaded,
  UploadForm,
  UploadHeaders,
  UploadQuery,
  VolumeId,
} from "../schema.ts";
import type { VolumeService } from "../service.ts";
import { createChanges } from "./changes.ts";
import { fileContent, sendFile } from "./download.ts";
import { FileEntry, fileEntry } from "./files.ts";
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
  const { places } = service;
  const changes = createChanges(places);
  const room = new UploadRoom();
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
        const { offset, limit } = page;
        const part = { path, limit: limit + 1, offset, after: afterOf(page) };
        const entries = await answering(() => places.list(row, part, call.signal));
        const items = entries.map(fileEntry);
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
        await changes.remove(await find(call), path);
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
        const file = await answering(() => places.open(row, path, call.signal));
        return sendFile(call.request, file, { type: file.content.mime_type, etag: `"${file.content.sha256}"` });
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
        const entry = await answering(() => places.look(row, path));
        const content = entry.directory ? null : (entry.content ?? (await contentOf(row, path, call.signal)));
        return { ...fileEntry({ ...entry, content }), size: entry.size };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/volumes/:id/files/upload",
      summary: "Put a file into a volume: a form, or the bytes themselves",
      ...write,
      params: VolumeId,
      query: UploadQuery,
      headers: UploadHeaders,
      takes: { "multipart/form-data": UploadForm, "application/octet-stream": FileBytes },
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
        const { path = null } = call.query;
        // What can be told of it is told before the volume is looked up.
        if (path !== null) readPath(path);
        return upload(service, room, call, await find(call), call.request, path);
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
            await changes.makeDirectory(await find(call), path);
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

  /** Digest and type of a file that was not read since it changed. @throws Problem 404 */
  async function contentOf(row: VolumeRow, path: string, signal: AbortSignal): Promise<Content> {
    const file = await answering(() => places.open(row, path, signal));
    file.close();
    return file.content;
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
