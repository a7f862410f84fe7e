/** What is known of the content of files in volumes: digests are computed once and hold while a file is unchanged. */
import { createHash } from "node:crypto";
import { read, type Stats } from "node:fs";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";

export interface Content {
  readonly sha256: string;
  readonly mime_type: string;
}

const pieceBytes = 1024 * 1024;

export type Digests = ReturnType<typeof createDigests>;

export function createDigests(sql: Sql) {
  return {
    /** By path, for those of the given files whose content is known. */
    async known(
      volumeId: string,
      files: readonly { readonly path: string; readonly size: number; readonly modifiedMs: number }[],
      query: Sql | Transaction = sql,
    ): Promise<ReadonlyMap<string, Content>> {
      if (files.length === 0) return new Map();
      const rows = await query<(Content & { path: string; size: number; modified_us: number })[]>`
        select path, sha256, mime_type, size::double precision as size, modified_us::double precision as modified_us
        from volume_files where volume_id = ${volumeId} and path = any(${files.map(({ path }) => path)})`;
      const byPath = new Map(rows.map((row) => [row.path, row]));
      return new Map(
        files.flatMap(({ path, size, modifiedMs }) => {
          const row = byPath.get(path);
          const holds = row !== undefined && row.size === size && row.modified_us === microseconds(modifiedMs);
          return holds ? [[path, { sha256: row.sha256, mime_type: row.mime_type }] as const] : [];
        }),
      );
    },

    async note(
      volumeId: string,
      path: string,
      { size, mtimeMs }: Stats,
      content: Content,
      query: Sql | Transaction = sql,
    ): Promise<void> {
      await query`
        insert into volume_files (volume_id, path, size, modified_us, sha256, mime_type)
        values (${volumeId}, ${path}, ${size}, ${microseconds(mtimeMs)}, ${content.sha256}, ${content.mime_type})
        on conflict (volume_id, path) do update set size = excluded.size, modified_us = excluded.modified_us,
          sha256 = excluded.sha256, mime_type = excluded.mime_type`;
    },

    /** A file or a directory with everything in it. */
    async forget(volumeId: string, path: string): Promise<void> {
      await sql`
        delete from volume_files
        where volume_id = ${volumeId} and (path = ${path} or starts_with(path, ${`${path === "/" ? "" : path}/`}))`;
    },
  };
}

const microseconds = (milliseconds: number): number => Math.round(milliseconds * 1000);

/** Reads a file through. Rejects with the signal's reason when aborted. @returns hex */
export async function sha256Of(fd: number, signal: AbortSignal | null): Promise<string> {
  const hash = createHash("sha256");
  const buffer = new Uint8Array(pieceBytes);
  for (let at = 0; ; ) {
    signal?.throwIfAborted();
    const got = await new Promise<number>((resolve, reject) => {
      read(fd, buffer, 0, pieceBytes, at, (error, count) => (error === null ? resolve(count) : reject(error)));
    });
    if (got === 0) return hash.digest("hex");
    hash.update(buffer.subarray(0, got));
    at += got;
  }
}
