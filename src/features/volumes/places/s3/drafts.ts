/** Objects on their way into a volume: rows say which were begun, so that a crash leaves none that is not known. */
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { ObjectStore, ObjectUpload } from "../../../../adapters/objects/port.ts";
import type { Sql, Transaction } from "../../../../store/postgres/pool.ts";
import type { Draft, VolumeAt } from "../port.ts";

/** No upload takes so long. */
const abandonedAfter = "24 hours";
/** Rows of one round. */
const someDrafts = 200;

/** The name of an object: never the path of a file. */
export const keyOf = ({ tenant, volume_id }: VolumeAt, entryId: string): string => `${tenant}/${volume_id}/${entryId}`;

/** An object that no path leads to yet. */
export class ObjectDraft implements Draft {
  #isPut = false;

  constructor(
    readonly entryId: string,
    readonly upload: ObjectUpload,
    readonly forget: () => Promise<void>,
    readonly leave: () => Promise<void>,
  ) {}

  write(piece: Uint8Array): Promise<void> {
    return this.upload.write(piece);
  }

  finish(): Promise<void> {
    return this.upload.finish();
  }

  /** The transaction that put it at a path did commit. */
  keep(): void {
    this.#isPut = true;
  }

  async discard(): Promise<void> {
    if (this.#isPut) return;
    // A store that is away keeps it for now; its row says so, and the sweep takes it away.
    await this.upload.discard().then(this.forget, this.leave);
  }
}

export function objectDrafts(sql: Sql, objects: ObjectStore) {
  return {
    /** @throws Problem 404 `volume_not_found` where the volume was deleted */
    async begin(volume: VolumeAt): Promise<ObjectDraft> {
      const { tenant, volume_id } = volume;
      const id = crypto.randomUUID();
      const begun = await sql`
        insert into volume_drafts (entry_id, volume_id)
        select ${id}, volume_id from volumes
        where tenant = ${tenant} and volume_id = ${volume_id} and deleted_at is null`;
      if (begun.count === 0) throw new Problem("volume_not_found", "Volume not found");
      const upload = objects.upload({
        key: keyOf(volume, id),
        begun: async (uploadId) => {
          await sql`update volume_drafts set upload_id = ${uploadId} where entry_id = ${id}`;
        },
      });
      return new ObjectDraft(
        id,
        upload,
        async () => {
          await sql`delete from volume_drafts where entry_id = ${id}`;
        },
        async () => {
          await sql`update volume_drafts set erasing = true where entry_id = ${id}`;
        },
      );
    },

    /** What a path leads to from this transaction on. @throws Problem 503 where it was given up as abandoned */
    async take(transaction: Transaction, entryId: string): Promise<void> {
      const taken = await transaction`delete from volume_drafts where entry_id = ${entryId} and not erasing`;
      if (taken.count > 0) return;
      throw new Problem("service_unavailable", "The upload took too long", {}, { "Retry-After": "5" });
    },

    /**
     * Takes away what crashes, and a store that was away, left of uploads, or all that is begun in one volume.
     * @param volumeId null: of every volume, what is old
     * @returns whether nothing is left of that
     */
    async clear(volumeId: string | null): Promise<boolean> {
      const which =
        volumeId === null
          ? sql`(erasing or created_at < now() - ${abandonedAfter}::interval)`
          : sql`volume_id = ${volumeId} and created_at < now()`;
      const rows = await sql<{ entry_id: string; volume_id: string; tenant: string; upload_id: string | null }[]>`
        with old as (select entry_id from volume_drafts where ${which} limit ${someDrafts} for update skip locked)
        update volume_drafts d set erasing = true from old, volumes v
        where d.entry_id = old.entry_id and v.volume_id = d.volume_id
        returning d.entry_id, d.volume_id, v.tenant, d.upload_id`;
      for (const row of rows) {
        const key = keyOf(row, row.entry_id);
        if (row.upload_id !== null) await objects.abandon(key, row.upload_id);
        await objects.remove([key]);
        await sql`delete from volume_drafts where entry_id = ${row.entry_id}`;
      }
      return rows.length < someDrafts;
    },
  };
}

export type ObjectDrafts = ReturnType<typeof objectDrafts>;
