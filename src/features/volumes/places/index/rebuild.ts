/** The index of a volume, made anew beside the one that is there and put in its place at once. */
import type { Sql } from "../../../../store/postgres/pool.ts";
import { sameTime } from "./entries.ts";

/** Rows of one statement. */
const batchRows = 2_000;

/** A file or directory as it was found. Directories come before what is in them. */
export interface FoundEntry {
  readonly directory: boolean;
  /** From the volume's root, without a slash at its beginning. */
  readonly path: string;
  readonly size: number;
  readonly modifiedUs: number;
}

/** What a volume is when it begins. */
export interface RebuildStart {
  readonly changes: string;
  readonly root: string | null;
}

/** Null while a change is under way, or where the volume is gone. */
export async function startOfRebuild(sql: Sql, volumeId: string): Promise<RebuildStart | null> {
  const [row] = await sql<RebuildStart[]>`
    select file_changes::text as changes, root_id as root from volumes v
    where volume_id = ${volumeId} and deleted_at is null
      and not exists (select from volume_changes c where c.volume_id = v.volume_id)`;
  return row ?? null;
}

/** An index that is being made; nothing shows it. */
export class Rebuild {
  readonly #root = crypto.randomUUID();
  /** Directories on the way to the one that was found last: names, ids, and the ids that the index before has for them. */
  readonly #stack: { readonly path: string; readonly id: string; readonly before: string | null }[];
  readonly #rows: { parent: string; before: string | null; name: string; id: string; entry: FoundEntry }[] = [];
  #bytes = 0;
  #files = 0;

  constructor(
    readonly sql: Sql,
    readonly volumeId: string,
    readonly start: RebuildStart,
  ) {
    this.#stack = [{ path: "", id: this.#root, before: start.root }];
  }

  /** @param shown whether paths of the routes can name it; what they cannot counts in the figures alone */
  async add(entry: FoundEntry, shown: boolean): Promise<void> {
    if (!entry.directory) {
      this.#bytes += entry.size;
      this.#files += 1;
    }
    if (!shown) return;
    const slash = entry.path.lastIndexOf("/");
    const parentPath = slash < 0 ? "" : entry.path.slice(0, slash);
    while (this.#stack.length > 1 && this.#stack.at(-1)?.path !== parentPath) this.#stack.pop();
    const parent = this.#stack.at(-1);
    // Its directory could not be named.
    if (parent === undefined || parent.path !== parentPath) return;
    const name = entry.path.slice(slash + 1);
    const id = crypto.randomUUID();
    if (entry.directory) {
      const before = parent.before === null ? null : await this.#idBefore(parent.before, name);
      this.#stack.push({ path: entry.path, id, before });
    }
    this.#rows.push({ parent: parent.id, before: parent.before, name, id, entry });
    if (this.#rows.length >= batchRows) await this.#write();
  }

  /**
   * Puts it in place of the one before.
   * @returns false where the volume was changed meanwhile: nothing has been done then
   */
  async finish(): Promise<boolean> {
    await this.#write();
    const { sql, volumeId, start } = this;
    const [switched] = await sql<{ volume_id: string }[]>`
      with switched as (
        update volumes v set root_id = ${this.#root}, indexed = true, measured = true,
          used_bytes = ${this.#bytes}, file_count = ${this.#files}
        where volume_id = ${volumeId} and file_changes = ${start.changes}::bigint and deleted_at is null
          and not exists (select from volume_changes c where c.volume_id = v.volume_id)
        returning volume_id
      ), settled as (
        update volume_detached set counted = false where counted and volume_id in (select volume_id from switched)
      ), old as (
        insert into volume_detached (entry_id, volume_id, is_file, counted)
        select ${start.root}::uuid, volume_id, false, false from switched where ${start.root}::uuid is not null
        on conflict (entry_id) do nothing
      )
      select volume_id from switched`;
    if (switched === undefined) await this.discard();
    return switched !== undefined;
  }

  /** What was made of it is taken away. */
  async discard(): Promise<void> {
    this.#rows.length = 0;
    await this.sql`
      insert into volume_detached (entry_id, volume_id, is_file, counted)
      select ${this.#root}::uuid, volume_id, false, false from volumes where volume_id = ${this.volumeId}
      on conflict (entry_id) do nothing`;
  }

  async #idBefore(parent: string, name: string): Promise<string | null> {
    const [row] = await this.sql<{ entry_id: string }[]>`
      select entry_id from volume_entries
      where volume_id = ${this.volumeId} and parent_id = ${parent} and not is_file and name = ${name}`;
    return row?.entry_id ?? null;
  }

  /** What the index before knows of a content that did not change is taken over, and what was known before there was one. */
  async #write(): Promise<void> {
    const { sql, volumeId } = this;
    const rows = this.#rows.splice(0);
    if (rows.length === 0) return;
    const asked = rows.map(({ before, name, entry }, n) => ({ n, before, name, path: `/${entry.path}` }));
    const known = await sql<{ n: number; size: number; modified_us: number; sha256: string; mime_type: string }[]>`
      select w.n, k.size::double precision as size, k.modified_us::double precision as modified_us, k.sha256, k.mime_type
      from json_to_recordset(${JSON.stringify(asked)}::text::json) as w (n int, before uuid, name text, path text)
      cross join lateral (
        select size, modified_us, sha256, mime_type from volume_entries e
        where e.volume_id = ${volumeId} and e.parent_id = w.before and e.is_file and e.name = w.name
        union all
        select size, modified_us, sha256, mime_type from volume_files f
        where ${this.start.root === null} and f.volume_id = ${volumeId} and f.path = w.path
      ) k where k.sha256 is not null and k.mime_type is not null`;
    const contents = new Map(known.map((row) => [row.n, row]));
    const made = rows.map(({ parent, name, id, entry: { directory, size, modifiedUs } }, n) => {
      const before = contents.get(n);
      const holds = !directory && before?.size === size && sameTime(before.modified_us, modifiedUs);
      const { sha256, mime_type } = holds && before !== undefined ? before : { sha256: null, mime_type: null };
      return { parent, is_file: !directory, name, id, size: directory ? 0 : size, at: modifiedUs, sha256, mime_type };
    });
    await sql`
      insert into volume_entries
        (volume_id, parent_id, is_file, name, entry_id, size, modified_us, sha256, mime_type)
      select ${volumeId}, w.parent, w.is_file, w.name, w.id, w.size, w.at, w.sha256, w.mime_type
      from json_to_recordset(${JSON.stringify(made)}::text::json)
        as w (parent uuid, is_file boolean, name text, id uuid, size bigint, at bigint, sha256 text, mime_type text)
      on conflict do nothing`;
  }
}
