/** Executions and their files as resources of the protocol. */
import { closeSync } from "node:fs";
import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { Problem } from "../../../actors/kernel/problem.ts";
import { pageOf } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { ExecutionFiles, Executions } from "../executions/port.ts";
import { type OpenedFile, typeOfName } from "../volumes/port.ts";
import type { FaceCaller } from "./caller.ts";
import { requireScope, telling } from "./refusal.ts";

/** Bytes of a file that is read in one answer; larger ones have a route of their own. */
const maxFileBytes = 1024 * 1024;
const pageSize = 50;

export interface ResourcesOptions {
  readonly executions: Pick<Executions, "list" | "find" | "record">;
  readonly files: ExecutionFiles;
}

export interface Resources {
  list(caller: FaceCaller, cursor: string | undefined): Promise<ListResourcesResult>;
  templates(): ListResourceTemplatesResult;
  /** @throws ProtocolError for what is not there, not readable, or too large */
  read(caller: FaceCaller, uri: string): Promise<ReadResourceResult>;
}

const scheme = "svc://executions/";

export function createResources({ executions, files }: ResourcesOptions): Resources {
  async function readRecord(caller: FaceCaller, uri: string, id: string): Promise<ReadResourceResult> {
    const found = await executions.find(caller.tenant, id);
    const record = await executions.record(found, false, 0, caller.signal);
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(record) }] };
  }

  async function readPath(caller: FaceCaller, uri: string, id: string, path: string): Promise<ReadResourceResult> {
    const file = await files.open(caller.tenant, id, path).catch((error: unknown) => {
      if (error instanceof Problem && error.code === "is_a_directory") return null;
      throw error;
    });
    if (file !== null) return { contents: [{ uri, ...(await contentOf(file)) }] };
    const listing = await files.list(caller.tenant, id, path, false, caller.signal);
    const { entries, truncated } = listing;
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify({ entries, truncated }) }] };
  }

  return {
    list: (caller, cursor) =>
      telling(async () => {
        requireScope(caller.identity, "execution:list");
        const page = pageOf({ limit: pageSize, ...(cursor === undefined ? {} : { cursor }) }, 2);
        const { items, next_cursor } = await executions.list(caller.tenant, {}, page);
        return {
          resources: items.map(({ id, agent_name, status }) => ({
            uri: scheme + id,
            name: id,
            title: `${agent_name}: ${status}`,
            mimeType: "application/json",
          })),
          ...(next_cursor === null ? {} : { nextCursor: next_cursor }),
        };
      }),

    templates: () => ({
      resourceTemplates: [
        {
          uriTemplate: `${scheme}{id}`,
          name: "execution",
          description: "The record of an execution",
          mimeType: "application/json",
        },
        {
          uriTemplate: `${scheme}{id}/files/{+path}`,
          name: "execution-file",
          description: "A file of an execution, or what a directory holds",
        },
      ],
    }),

    read: (caller, uri) =>
      telling(async () => {
        requireScope(caller.identity, "execution:read");
        const named = readUri(uri);
        if (named === null) throw new ResourceNotFoundError(uri);
        return named.path === null
          ? readRecord(caller, uri, named.id)
          : readPath(caller, uri, named.id, `/${named.path}`);
      }),
  };
}

/** Null for what names nothing here. The path is as it was sent: the files resolve it, and refuse one that climbs out. */
function readUri(uri: string): { readonly id: string; readonly path: string | null } | null {
  const match = /^svc:\/\/executions\/([^/]{36})(?:\/files(?:\/(.{0,8192}))?)?$/s.exec(uri);
  const id = match?.[1]?.toLowerCase();
  if (id === undefined || !isUuid(id)) return null;
  if (!uri.slice(scheme.length + id.length).startsWith("/files")) return { id, path: null };
  try {
    return { id, path: decodeURIComponent(match?.[2] ?? "") };
  } catch {
    return null;
  }
}

/** Text where the bytes are UTF-8, base64 otherwise. Closes the file. @throws Problem 422 `file_too_large` */
async function contentOf({ fd, stats, name }: OpenedFile) {
  try {
    const mimeType = typeOfName(name);
    const tooLarge = () =>
      new Problem("file_too_large", `The file is larger than ${maxFileBytes} bytes`, { limit_bytes: maxFileBytes });
    if (stats.size > maxFileBytes) throw tooLarge();
    // It may grow while it is read.
    const bytes = new Uint8Array(
      await Bun.file(fd)
        .slice(0, maxFileBytes + 1)
        .arrayBuffer(),
    );
    if (bytes.length > maxFileBytes) throw tooLarge();
    try {
      return { mimeType, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
    } catch {
      return { mimeType, blob: Buffer.from(bytes).toString("base64") };
    }
  } finally {
    closeSync(fd);
  }
}
