/**
 * Volumes whose bytes are objects of a store. The index is the truth: an object is a file once a row leads to it, and is
 * erased some time after none does (docs/decisions/volumes-in-objects.md).
 */

import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { ObjectStore } from "../../../../adapters/objects/port.ts";
import type { Sql } from "../../../../store/postgres/pool.ts";
import { ToolFailure } from "../../../tools/port.ts";
import { makeVolumeDirectory, type Usage, type VolumeLayout } from "../../layout.ts";
import { isDirectoryProblem } from "../../paths.ts";
import { drainAfterChange } from "../index/drain.ts";
import { type EntryRow, entriesOf, entryOf, segmentsOfPath } from "../index/entries.ts";
import type { Places, VolumeAt } from "../port.ts";
import { objectChange } from "./change.ts";
import { objectReader } from "./content.ts";
import { keyOf, type ObjectDraft, objectDrafts } from "./drafts.ts";
import { objectErasing } from "./erasing.ts";
import { createStaging, type StagingOptions, type VolumeStaging } from "./staging/staging.ts";

export interface ObjectPlacesOptions {
  readonly sql: Sql;
  readonly objects: ObjectStore;
  readonly layout: VolumeLayout;
  /** This host, as the runtime names it. */
  readonly host: string;
  /** Whether what a volume holds, as the transaction counts it, fits all quotas. */
  readonly fits: StagingOptions["fits"];
  /** Told what instances left that cannot be written back. */
  readonly lost: StagingOptions["lost"];
  readonly maxEntries?: StagingOptions["maxEntries"];
}

/** Places, with what copies on hosts need beside them. */
export interface ObjectPlaces extends Places {
  /** See `createStaging`. */
  readonly staging: Pick<VolumeStaging, "tidy" | "drop">;
}

export function objectPlaces(options: ObjectPlacesOptions): ObjectPlaces {
  const { sql, objects, layout } = options;
  const { walk, list } = entriesOf(sql);
  const drafts = objectDrafts(sql, objects);
  const erasing = objectErasing(sql, objects, drafts);
  const reader = objectReader(objects, layout.staged);

  /** @throws ToolFailure `not_found` */
  async function find(volume: VolumeAt, path: string): Promise<EntryRow | null> {
    const depth = segmentsOfPath(path).length;
    const found = await walk(volume, path);
    // A volume that never held anything has no row for its root.
    if (found === null && depth === 0) return null;
    if (found === null || found.depth !== depth) throw new ToolFailure("not_found", `${path} does not exist`);
    return found.last;
  }

  const files: Omit<Places, "arrive" | "land"> = {
    probe: () => objects.probe(`.probe/${crypto.randomUUID()}`),
    async prepare() {},

    async list(volume, part) {
      const row = await find(volume, part.path);
      if (row === null) return [];
      if (row.is_file) throw new ToolFailure("not_a_directory", `${part.path} is no directory`);
      return list(volume.volume_id, row.entry_id, part);
    },

    async look(volume, path) {
      const row = await find(volume, path);
      if (row !== null) return entryOf(row, path);
      return { name: "", path: "/", directory: true, size: 0, modifiedMs: 0, content: null };
    },

    async open(volume, path, signal) {
      const row = await find(volume, path);
      if (row === null || !row.is_file) throw isDirectoryProblem();
      const entry = entryOf(row, path);
      if (entry.content === null) throw new TypeError("an object is put with its digest");
      return reader.open(keyOf(volume, row.entry_id), entry, entry.content, signal);
    },

    draft: (volume) => drafts.begin(volume),

    async change(volume, work) {
      const { tenant, volume_id } = volume;
      const put: ObjectDraft[] = [];
      let isDetached = false;
      const result = await sql.begin(async (transaction) => {
        await transaction`select pg_advisory_xact_lock(hashtextextended(${`volumes ${tenant}`}, 0))`;
        const there = await transaction`
          select from volumes where tenant = ${tenant} and volume_id = ${volume_id} and deleted_at is null for update`;
        if (there.count === 0) throw new Problem("volume_not_found", "Volume not found");
        return work(
          objectChange(
            transaction,
            volume,
            drafts,
            (draft) => void put.push(draft),
            () => {
              isDetached = true;
            },
          ),
        );
      });
      for (const draft of put) draft.keep();
      if (isDetached) await drainAfterChange(sql, volume_id, true);
      // The driver's own promise type is narrower than what it resolves to.
      return result as Awaited<ReturnType<typeof work>>;
    },

    async stage(volumeId) {
      const directory = layout.volume(volumeId);
      await makeVolumeDirectory(directory);
      return directory;
    },

    async measure(volumeId) {
      const [row] = await sql<Usage[]>`
        select used_bytes::double precision as bytes, file_count::double precision as files,
          file_count::double precision as entries
        from volumes where volume_id = ${volumeId}`;
      return row ?? { bytes: 0, files: 0, entries: 0 };
    },

    // The index is the truth at every moment.
    writeBack: async () => true,

    held: erasing.left,

    async erase(volumeId) {
      await staging.drop(volumeId);
      return erasing.eraseVolume(volumeId);
    },

    tidy: erasing.tidy,
  };
  const staging = createStaging({ ...options, places: files });
  return { ...files, arrive: staging.arrive, land: staging.land, staging };
}
