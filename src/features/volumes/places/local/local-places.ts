/**
 * Volumes as directories of this host, which executions mount. The index says what lies in them as long as it is not in
 * doubt; what it does not say, the directory does.
 */
import { closeSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { removeDirectory } from "../../../../lib/files/remove-directory.ts";
import type { Sql } from "../../../../store/postgres/pool.ts";
import { type ViewSpec, viewOf } from "../../../tools/fs/port.ts";
import { idsIn, makeVolumeDirectory, measure, type VolumeLayout } from "../../layout.ts";
import { typeOfName } from "../../media-types.ts";
import { changeMarks } from "../index/changes.ts";
import { drainAfterChange, drainDetached, volumesToDrain } from "../index/drain.ts";
import { changingIndex, entriesOf, microseconds, sameTime, segmentsOfPath } from "../index/entries.ts";
import { Rebuild, startOfRebuild } from "../index/rebuild.ts";
import type { Content, Entry, Places, VolumeAt } from "../port.ts";
import { changingDisk, type LocalChange } from "./changing.ts";
import { sha256Of } from "./digest.ts";
import { LocalDraft } from "./draft.ts";
import { contentOnDisk } from "./open-content.ts";
import { listFiles, lookAt, openForReading } from "./reading.ts";
import { canWalk, walkInto } from "./walk.ts";

const batchesOfRound = 500;

export function localPlaces(sql: Sql, layout: VolumeLayout): Places {
  const index = entriesOf(sql);
  const marks = changeMarks(sql);
  const specOf = (volumeId: string): ViewSpec => viewOf(layout.volume(volumeId), "/");

  /** Of a file on the disk, what the index knows of the very same content. */
  async function knownOf(volume: VolumeAt, path: string, size: number, modifiedMs: number) {
    const walked = await index.walk(volume, path);
    if (walked === null || walked.depth !== segmentsOfPath(path).length || !walked.last.is_file) return null;
    const { last } = walked;
    return last.size === size && sameTime(last.modified_us, microseconds(modifiedMs)) ? last : null;
  }

  const contentOf = (row: { sha256: string | null; mime_type: string | null } | null | undefined): Content | null =>
    row?.sha256 == null || row.mime_type === null ? null : { sha256: row.sha256, mime_type: row.mime_type };

  /** Keeps what was read, so that it is not read for every request. */
  async function note(volume: VolumeAt, path: string, size: number, modifiedMs: number, content: Content) {
    const modifiedUs = microseconds(modifiedMs);
    await sql.begin(async (transaction) => {
      const [row] = await transaction<{ indexed: boolean }[]>`
        select indexed from volumes where tenant = ${volume.tenant} and volume_id = ${volume.volume_id} for update`;
      if (row === undefined) return;
      const changing = changingIndex(transaction, volume);
      const found = await changing.find(path);
      const isSame = found?.row.is_file && found.row.size === size && sameTime(found.row.modified_us, modifiedUs);
      // An index that holds is told of nothing that it does not know: what was read may be gone by now.
      if (row.indexed && !isSame) return;
      await changing.put(path, { entryId: found?.row.entry_id ?? crypto.randomUUID(), size, modifiedUs, content });
    });
  }

  async function emptyTrash(): Promise<void> {
    for (const name of await readdir(layout.trash).catch(() => [])) await removeDirectory(join(layout.trash, name));
  }

  return {
    async probe() {
      await mkdir(layout.volumes, { recursive: true });
      const path = join(layout.volumes, `.probe-${crypto.randomUUID()}`);
      try {
        await writeFile(path, path, { mode: 0o600 });
        if ((await readFile(path, "utf8")) !== path) throw new Error("the file that was written reads otherwise");
      } finally {
        await rm(path, { force: true });
      }
    },

    prepare: (volumeId) => makeVolumeDirectory(layout.volume(volumeId)),

    async list(volume, part, signal) {
      const { path, limit, offset, after } = part;
      const walked = await index.walk(volume, path);
      const isKnown =
        walked !== null && walked.depth === segmentsOfPath(path).length && !walked.last.is_file ? walked : null;
      if (isKnown?.indexed) return index.list(volume.volume_id, isKnown.last.entry_id, part);
      const job = { view: specOf(volume.volume_id), path, recursive: false, limit: offset + limit, after };
      const { entries } = await listFiles(volume.tenant, job, signal);
      const shown = entries.slice(offset);
      const names = shown.filter(({ directory }) => !directory).map(({ name }) => name);
      const known = isKnown === null ? null : await index.named(volume.volume_id, isKnown.last.entry_id, names);
      return shown.map((entry): Entry => {
        const row = entry.directory ? undefined : known?.get(entry.name);
        const holds = row?.size === entry.size && sameTime(row.modified_us, microseconds(entry.modifiedMs));
        return { ...entry, content: holds ? contentOf(row) : null };
      });
    },

    async look(volume, path) {
      const found = lookAt(specOf(volume.volume_id), path);
      const row = found.directory ? null : await knownOf(volume, found.path, found.size, found.modifiedMs);
      return { ...found, content: contentOf(row) };
    },

    async open(volume, path, signal) {
      const file = openForReading(specOf(volume.volume_id), path);
      try {
        const { size, mtimeMs } = file.stats;
        const known = contentOf(await knownOf(volume, file.path, size, mtimeMs));
        if (known !== null) return contentOnDisk(file, path, known);
        const content = { sha256: await sha256Of(file.fd, signal), mime_type: typeOfName(file.name) };
        await note(volume, file.path, size, mtimeMs, content);
        return contentOnDisk(file, path, content);
      } catch (error) {
        closeSync(file.fd);
        throw error;
      }
    },

    draft: () => LocalDraft.open(layout.uploads),

    async change(volume, work) {
      let change: LocalChange | null = null;
      const result = await marks.marked(
        volume,
        (transaction) => {
          change = changingDisk(transaction, volume, specOf(volume.volume_id), layout.trash);
          return work(change);
        },
        () => change?.isTouched() ?? false,
      );
      const aside = (change as LocalChange | null)?.aside ?? [];
      if (aside.length > 0) {
        await drainAfterChange(sql, volume.volume_id, false);
        // What fails here is taken up by the next round.
        void Promise.all(aside.map(removeDirectory)).catch(() => {});
      }
      return result;
    },

    async stage(volumeId) {
      const directory = layout.volume(volumeId);
      await makeVolumeDirectory(directory);
      return directory;
    },

    measure: (volumeId) => measure(layout.volume(volumeId)),

    async writeBack(volumeId, isIdle) {
      const start = await startOfRebuild(sql, volumeId);
      if (start === null || !(await isIdle())) return false;
      if (!canWalk) return false;
      await makeVolumeDirectory(layout.volume(volumeId));
      const made = await walkInto(layout.volume(volumeId), async () => new Rebuild(sql, volumeId, start));
      return (await made?.finish()) ?? false;
    },

    held: () => idsIn(layout.volumes),

    // Instances mount the very directory that is the volume.
    async arrive() {},
    land: async () => "written",

    async erase(volumeId) {
      await removeDirectory(layout.volume(volumeId));
      await sql`
        insert into volume_detached (entry_id, volume_id, is_file, counted)
        select root_id, volume_id, false, false from volumes
        where volume_id = ${volumeId} and root_id is not null and deleted_at is not null
        on conflict (entry_id) do nothing`;
      return drainDetached(sql, volumeId, false, batchesOfRound);
    },

    async tidy(now) {
      await layout.removeOldUploads(now);
      await emptyTrash();
      for (const id of await volumesToDrain(sql, "local", 100)) await drainDetached(sql, id, false, batchesOfRound);
    },
  };
}
