/**
 * The SQL of the index of files: directories and files by their parents, so that a directory moves or goes with one row,
 * however much lies in it. Why: docs/decisions/index-of-files.md.
 */
import type { Sql, Transaction } from "../../../../store/postgres/pool.ts";
import type { Content, Entry, ListPart, VolumeAt } from "../port.ts";

export type Query = Sql | Transaction;

/** A row of the index; the root of a volume has no row, and is told like one. */
export interface EntryRow {
  readonly entry_id: string;
  readonly is_file: boolean;
  readonly size: number;
  readonly modified_us: number;
  readonly sha256: string | null;
  readonly mime_type: string | null;
}

/** How far a path leads in the index. */
export interface Walked {
  /** Whether the index says what the volume holds. */
  readonly indexed: boolean;
  /** Names of the path that were found, from its beginning. */
  readonly depth: number;
  /** What the last one of them is. */
  readonly last: EntryRow;
}

/** A file as it is put into the index. */
export interface NewFile {
  readonly entryId: string;
  readonly size: number;
  readonly modifiedUs: number;
  readonly content: Content | null;
}

export const segmentsOfPath = (path: string): string[] => path.split("/").filter(Boolean);
export const microseconds = (milliseconds: number): number => Math.round(milliseconds * 1000);

/** Two readings of one time may differ by the rounding of a fraction. */
export const sameTime = (a: number, b: number): boolean => Math.abs(a - b) <= 1;

export const entriesOf = (sql: Query) => {
  const numbers = sql`size::double precision as size, modified_us::double precision as modified_us, sha256, mime_type`;
  return {
    /** Follows a path as far as it is known. Null: there is no such volume, or it has no index yet. */
    async walk({ tenant, volume_id }: VolumeAt, path: string): Promise<Walked | null> {
      const names = segmentsOfPath(path);
      const [row] = await sql<(EntryRow & { depth: number; indexed: boolean })[]>`
        with recursive walk as (
          select 0 as depth, indexed, root_id as entry_id, false as is_file, 0::bigint as size,
            (extract(epoch from updated_at) * 1000000)::bigint as modified_us, null::text as sha256, null::text as mime_type
          from volumes where tenant = ${tenant} and volume_id = ${volume_id} and deleted_at is null and root_id is not null
          union all
          select w.depth + 1, w.indexed, e.entry_id, e.is_file, e.size, e.modified_us, e.sha256, e.mime_type
          from walk w join volume_entries e on e.volume_id = ${volume_id} and e.parent_id = w.entry_id
            and e.is_file = any('{f,t}'::boolean[]) and e.name = (${names}::text[])[w.depth + 1]
          where w.depth < ${names.length} and not w.is_file
        )
        select depth, indexed, entry_id, is_file, ${numbers} from walk order by depth desc limit 1`;
      if (row === undefined) return null;
      const { depth, indexed, ...last } = row;
      return { indexed, depth, last };
    },

    /** Of a directory by its id: directories first, then by name. */
    async list(volumeId: string, directoryId: string, { path, limit, offset, after }: ListPart): Promise<Entry[]> {
      const from = after === null ? sql`true` : sql`(is_file, name) > (${!after.directory}, ${after.name})`;
      const rows = await sql<(EntryRow & { name: string })[]>`
        select name, entry_id, is_file, ${numbers} from volume_entries
        where volume_id = ${volumeId} and parent_id = ${directoryId} and ${from}
        order by is_file, name limit ${limit} offset ${offset}`;
      return rows.map(({ name, ...row }) => entryOf(row, path === "/" ? `/${name}` : `${path}/${name}`));
    },

    /** Of a directory, those of the given names. */
    async named(
      volumeId: string,
      directoryId: string,
      names: readonly string[],
    ): Promise<ReadonlyMap<string, EntryRow>> {
      if (names.length === 0) return new Map();
      const rows = await sql<(EntryRow & { name: string })[]>`
        select name, entry_id, is_file, ${numbers} from volume_entries
        where volume_id = ${volumeId} and parent_id = ${directoryId} and is_file and name = any(${[...names]})`;
      return new Map(rows.map(({ name, ...row }) => [name, row]));
    },

    /** Keeps what was read of a file, if the index has the very file. */
    async noteContent(
      volumeId: string,
      entryId: string,
      parentId: string,
      name: string,
      content: Content,
    ): Promise<void> {
      await sql`
        update volume_entries set sha256 = ${content.sha256}, mime_type = ${content.mime_type}
        where volume_id = ${volumeId} and parent_id = ${parentId} and is_file and name = ${name}
          and entry_id = ${entryId}`;
    },
  };
};

/** The index of a volume while it is changed. To be used by one change at a time. */
export function changingIndex(transaction: Transaction, volume: VolumeAt) {
  const { volume_id } = volume;
  const { walk } = entriesOf(transaction);

  async function removeRow(parentId: string, { is_file }: EntryRow, name: string): Promise<void> {
    await transaction`
      delete from volume_entries
      where volume_id = ${volume_id} and parent_id = ${parentId} and is_file = ${is_file} and name = ${name}`;
  }

  /** A directory that no path leads to any more. @param counted whether its files count in the figures still */
  async function detach(entryId: string, isFile: boolean, counted: boolean): Promise<void> {
    await transaction`
      insert into volume_detached (entry_id, volume_id, is_file, counted)
      values (${entryId}, ${volume_id}, ${isFile}, ${counted}) on conflict (entry_id) do nothing`;
  }

  async function find(path: string): Promise<{ readonly parentId: string; readonly row: EntryRow } | null> {
    const names = segmentsOfPath(path);
    const parent = await walk(volume, names.slice(0, -1).join("/"));
    if (parent === null || parent.depth !== names.length - 1 || parent.last.is_file) return null;
    const found = await walk(volume, path);
    if (found === null || found.depth !== names.length) return null;
    return { parentId: parent.last.entry_id, row: found.last };
  }

  /** @returns the id of the directory, made with its parents; a file in the way of one goes */
  async function directory(path: string, modifiedUs: number): Promise<string> {
    await transaction`
      update volumes set root_id = coalesce(root_id, volume_id) where tenant = ${volume.tenant} and volume_id = ${volume_id}`;
    const names = segmentsOfPath(path);
    const known = await walk(volume, path);
    if (known === null) throw new Error("the volume is gone");
    let { depth, last } = known;
    if (last.is_file) {
      const upper = await walk(volume, names.slice(0, depth - 1).join("/"));
      if (upper === null) throw new Error("the volume is gone");
      await removeRow(upper.last.entry_id, last, names[depth - 1] ?? "");
      await detach(last.entry_id, true, false);
      ({ depth, last } = upper);
    }
    let id = last.entry_id;
    for (const name of names.slice(depth)) {
      const made = crypto.randomUUID();
      await transaction`
        insert into volume_entries (volume_id, parent_id, is_file, name, entry_id, modified_us)
        values (${volume_id}, ${id}, false, ${name}, ${made}, ${modifiedUs})`;
      id = made;
    }
    return id;
  }

  /** Puts a row in a directory, in place of one of that name. @returns what was there */
  async function place(parentId: string, name: string, row: EntryRow): Promise<EntryRow | null> {
    const [before] = await transaction<EntryRow[]>`
      delete from volume_entries
      where volume_id = ${volume_id} and parent_id = ${parentId} and is_file = any('{f,t}'::boolean[]) and name = ${name}
      returning entry_id, is_file, size::double precision as size, modified_us::double precision as modified_us, sha256,
        mime_type`;
    await transaction`
      insert into volume_entries
        (volume_id, parent_id, is_file, name, entry_id, size, modified_us, sha256, mime_type)
      values (${volume_id}, ${parentId}, ${row.is_file}, ${name}, ${row.entry_id}, ${row.size}, ${row.modified_us},
        ${row.sha256}, ${row.mime_type})`;
    if (before !== undefined && !before.is_file) await detach(before.entry_id, false, false);
    return before ?? null;
  }

  return {
    find,
    directory,
    detach,

    /** With its parents. @returns the file that was there */
    async put(path: string, { entryId, size, modifiedUs, content }: NewFile): Promise<EntryRow | null> {
      const names = segmentsOfPath(path);
      const parentId = await directory(names.slice(0, -1).join("/"), modifiedUs);
      return place(parentId, names.at(-1) ?? "", {
        entry_id: entryId,
        is_file: true,
        size,
        modified_us: modifiedUs,
        sha256: content?.sha256 ?? null,
        mime_type: content?.mime_type ?? null,
      });
    },

    /** With the parents of the new path; what is not in the index is not moved. @returns what was at the new path */
    async move(from: string, to: string, modifiedUs: number): Promise<EntryRow | null> {
      const source = await find(from);
      if (source === null) return null;
      await removeRow(source.parentId, source.row, segmentsOfPath(from).at(-1) ?? "");
      const names = segmentsOfPath(to);
      const parentId = await directory(names.slice(0, -1).join("/"), modifiedUs);
      return place(parentId, names.at(-1) ?? "", source.row);
    },

    /** A directory is detached, its files counted until they are taken away. @returns what was there */
    async remove(path: string): Promise<EntryRow | null> {
      const found = await find(path);
      if (found === null) return null;
      await removeRow(found.parentId, found.row, segmentsOfPath(path).at(-1) ?? "");
      if (!found.row.is_file) await detach(found.row.entry_id, false, true);
      return found.row;
    },

    /** Adds to the figures of the volume. */
    async count(bytes: number, files: number): Promise<void> {
      await transaction`
        update volumes set used_bytes = greatest(0, used_bytes + ${bytes}::bigint),
          file_count = greatest(0, file_count + ${files}::int), updated_at = now()
        where tenant = ${volume.tenant} and volume_id = ${volume_id}`;
    },
  };
}

/** A row as the routes tell it. */
export function entryOf({ is_file, size, modified_us, sha256, mime_type }: EntryRow, path: string): Entry {
  return {
    name: path.slice(path.lastIndexOf("/") + 1),
    path,
    directory: !is_file,
    size: is_file ? size : 0,
    modifiedMs: modified_us / 1000,
    content: sha256 === null || mime_type === null ? null : { sha256, mime_type },
  };
}
