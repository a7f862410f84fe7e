/** Objects that no path leads to any more, taken away bit by bit. */
import type { ObjectStore } from "../../../../adapters/objects/port.ts";
import type { Sql } from "../../../../store/postgres/pool.ts";
import { drainDetached, volumesToDrain } from "../index/drain.ts";
import { keyOf, type ObjectDrafts } from "./drafts.ts";

/** What a reader found a moment before is still read to its end. */
const readableFor = "10 minutes";
const someObjects = 1_000;
const drainBatches = 50;
/** Requests of one call, or of one round, at most. */
const rounds = 100;

export function objectErasing(sql: Sql, objects: Pick<ObjectStore, "remove">, drafts: Pick<ObjectDrafts, "clear">) {
  /** @param volumeId null: of every volume, what was detached long enough ago @returns how many */
  async function eraseSome(volumeId: string | null): Promise<number> {
    const which =
      volumeId === null ? sql`d.detached_at < now() - ${readableFor}::interval` : sql`d.volume_id = ${volumeId}`;
    const rows = await sql<{ entry_id: string; volume_id: string; tenant: string }[]>`
      select d.entry_id, d.volume_id, v.tenant from volume_detached d join volumes v using (volume_id)
      where d.is_file and v.backend = 's3' and ${which} order by d.detached_at limit ${someObjects}`;
    if (rows.length === 0) return 0;
    await objects.remove(rows.map((row) => keyOf(row, row.entry_id)));
    await sql`
      delete from volume_detached where is_file and entry_id = any(${rows.map((row) => row.entry_id)}::uuid[])`;
    return rows.length;
  }

  return {
    /** Everything of a volume that is deleted. @returns whether nothing is left */
    async eraseVolume(volumeId: string): Promise<boolean> {
      // Its files are detached with the very statement that ends the way to them.
      await sql`
        with root as (
          select root_id from volumes
          where volume_id = ${volumeId} and deleted_at is not null and root_id is not null for update
        ), detached as (
          insert into volume_detached (entry_id, volume_id, is_file, counted)
          select root_id, ${volumeId}, false, false from root on conflict (entry_id) do nothing
        )
        update volumes v set root_id = null from root where v.volume_id = ${volumeId}`;
      if (!(await drainDetached(sql, volumeId, true, drainBatches))) return false;
      for (let round = 0; round < rounds; round++) {
        if ((await eraseSome(volumeId)) < someObjects) return drafts.clear(volumeId);
      }
      return false;
    },

    /** Directories that were deleted, files that were replaced or deleted, uploads that crashed. */
    async tidy(): Promise<void> {
      for (const id of await volumesToDrain(sql, "s3", 100)) await drainDetached(sql, id, true, drainBatches);
      for (let round = 0; round < rounds; round++) if ((await eraseSome(null)) < someObjects) break;
      await drafts.clear(null);
    },

    /** Deleted volumes of which something is left. */
    async left(): Promise<string[]> {
      const rows = await sql<{ volume_id: string }[]>`
        select v.volume_id from volumes v
        where v.backend = 's3' and v.deleted_at is not null
          and (v.root_id is not null or exists (select from volume_detached d where d.volume_id = v.volume_id)
            or exists (select from volume_drafts d where d.volume_id = v.volume_id))
        limit 1000`;
      return rows.map(({ volume_id }) => volume_id);
    },
  };
}
