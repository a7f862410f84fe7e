/** Directories that were detached from the index, taken away bit by bit: no request waits for all that was in them. */
import type { Sql } from "../../../../store/postgres/pool.ts";

/** Rows of one statement. */
const batchRows = 2_000;

/**
 * Takes away what lies in detached directories, and lets the figures of the volume follow.
 * @param keepFiles whether the files are detached one by one, for a store that has their bytes by `entry_id`
 * @param batches statements at most
 * @returns whether nothing is left
 */
export async function drainDetached(sql: Sql, volumeId: string, keepFiles: boolean, batches: number): Promise<boolean> {
  for (let batch = 0; batch < batches; batch++) {
    const [row] = await sql<{ taken: number }[]>`
      with directory as (
        select entry_id, counted from volume_detached where volume_id = ${volumeId} and not is_file
        limit 1 for update skip locked
      ), gone as (
        -- By the places of the rows: without statistics a join of two lists of rows can be planned as one with every row.
        delete from volume_entries where ctid = any(array(
          select e.ctid from volume_entries e
          where e.volume_id = ${volumeId} and e.parent_id = (select entry_id from directory)
          order by e.is_file, e.name limit ${batchRows}
        ))
        returning entry_id, is_file, size
      ), inner_ones as (
        insert into volume_detached (entry_id, volume_id, is_file, counted)
        select g.entry_id, ${volumeId}, g.is_file, d.counted and not g.is_file from gone g, directory d
        where not g.is_file or ${keepFiles}
        on conflict (entry_id) do nothing
      ), done as (
        delete from volume_detached where not exists (select from gone)
          and entry_id = (select entry_id from directory)
      ), counted as (
        update volumes set used_bytes = greatest(0, used_bytes - (select coalesce(sum(size), 0) from gone where is_file)),
          file_count = greatest(0, file_count - (select count(*) from gone where is_file))
        where volume_id = ${volumeId} and (select counted from directory) and exists (select from gone where is_file)
      )
      select count(*)::int as taken from directory`;
    if ((row?.taken ?? 0) === 0) return true;
  }
  return false;
}

/** Statements that a change waits for to have its directory taken out of the figures, and those that go on after it. */
const batchesAtOnce = 4;
const batchesAfter = 2_000;

/** Takes what a change detached out of the figures, most often before its answer. What fails is taken up by the next round. */
export async function drainAfterChange(sql: Sql, volumeId: string, keepFiles: boolean): Promise<void> {
  if (await drainDetached(sql, volumeId, keepFiles, batchesAtOnce).catch(() => true)) return;
  void drainDetached(sql, volumeId, keepFiles, batchesAfter).catch(() => {});
}

/** Volumes with detached directories, of every tenant, whose bytes lie there. */
export async function volumesToDrain(sql: Sql, backend: "local" | "s3", limit: number): Promise<string[]> {
  const rows = await sql<{ volume_id: string }[]>`
    select distinct volume_id from (
      select volume_id from volume_detached join volumes v using (volume_id)
      where not is_file and v.backend = ${backend} limit 10000) found
    limit ${limit}`;
  return rows.map(({ volume_id }) => volume_id);
}
