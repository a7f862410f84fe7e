/** Files of volumes as an export of their tenant has them: of volumes that stay, not of what runs work with. */
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { ExportedFile, ExportFlaw } from "../feature.ts";
import { ToolFailure, ToolRefusal } from "../tools/port.ts";
import type { Entry, OpenContent, Places, VolumeAt } from "./places/port.ts";

/** Entries of a directory that are listed at once, and volumes. */
const atOnce = 200;
const pieceBytes = 256 * 1024;

type Exported = ExportedFile | ExportFlaw;

export const exportedFiles = (sql: Sql, places: Pick<Places, "list" | "open">) =>
  async function* files(tenant: string): AsyncGenerator<Exported> {
    for (let last = "00000000-0000-0000-0000-000000000000"; ; ) {
      const rows = await sql<{ volume_id: string }[]>`
        select volume_id from volumes
        where tenant = ${tenant} and kind <> 'run' and deleted_at is null and volume_id > ${last}::uuid
        order by volume_id limit ${atOnce}`;
      for (const { volume_id } of rows) yield* filesIn(places, { tenant, volume_id }, "/");
      const end = rows.at(-1);
      if (end === undefined || rows.length < atOnce) return;
      last = end.volume_id;
    }
  };

/** Depth first. What is removed meanwhile is left out. */
async function* filesIn(
  places: Pick<Places, "list" | "open">,
  volume: VolumeAt,
  directory: string,
): AsyncGenerator<Exported> {
  const { signal } = new AbortController();
  for (let after: { directory: boolean; name: string } | null = null; ; ) {
    const part = { path: directory, limit: atOnce, offset: 0, after };
    const entries: readonly Entry[] = await places.list(volume, part, signal).catch(goneAs<readonly Entry[]>([]));
    for (const entry of entries) {
      if (entry.directory) yield* filesIn(places, volume, entry.path);
      else yield* fileOf(places, volume, entry);
    }
    const last = entries.at(-1);
    if (last === undefined || entries.length < atOnce) return;
    after = { directory: last.directory, name: last.name };
  }
}

async function* fileOf(
  places: Pick<Places, "open">,
  volume: VolumeAt,
  { path, modifiedMs }: Entry,
): AsyncGenerator<Exported> {
  const name = `volumes/${volume.volume_id}${path}`;
  let open: OpenContent | null;
  try {
    open = await places.open(volume, path, null).catch(goneAs(null));
  } catch (error) {
    // Of this file alone: a link that leads out of the volume, something that is no file.
    const isOfFile = error instanceof ToolFailure || error instanceof ToolRefusal;
    if (!isOfFile && !(error instanceof Problem && error.status < 500)) throw error;
    yield { path: name, problem: "cannot be read" };
    return;
  }
  if (open === null) return;
  try {
    const { size } = open;
    yield { path: name, size, modifiedMs, content: () => piecesOf(open, size) };
  } finally {
    open.close();
  }
}

async function* piecesOf(file: Pick<OpenContent, "read">, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const piece = await file.read(at, Math.min(size, at + pieceBytes));
    if (piece.length === 0) return;
    yield piece;
    at += piece.length;
  }
}

const goneAs =
  <T>(value: T) =>
  (error: unknown): T => {
    if (error instanceof ToolFailure && ["not_found", "not_a_directory"].includes(error.code)) return value;
    if (error instanceof Problem && error.code === "path_not_found") return value;
    throw error;
  };
