/** One change of a volume on this host: on its disk and in the index. */
import { join } from "node:path";
import type { Transaction } from "../../../../store/postgres/pool.ts";
import { runFsTool } from "../../../tools/fs/feature.ts";
import type { ViewSpec } from "../../../tools/fs/port.ts";
import { outcomeOf, ToolFailure } from "../../../tools/port.ts";
import { invalidPath } from "../../paths.ts";
import { changingIndex, entryOf, microseconds, sameTime } from "../index/entries.ts";
import type { Change, VolumeAt } from "../port.ts";
import { type Done, lookAtDisk, makeDirectoryOnDisk, moveOnDisk, putAside, putOnDisk } from "./disk.ts";
import { LocalDraft } from "./draft.ts";

export interface LocalChange extends Change {
  /** Whether the disk was changed. */
  readonly isTouched: () => boolean;
  /** What was put aside, to be taken away once the change is there. */
  readonly aside: readonly string[];
}

/** @param trash on the file system of the volumes */
export function changingDisk(transaction: Transaction, volume: VolumeAt, spec: ViewSpec, trash: string): LocalChange {
  const index = changingIndex(transaction, volume);
  const aside: string[] = [];
  let touched = false;

  /** From here on the disk and the index may differ. */
  function onDisk<T>(work: () => T): T {
    touched = true;
    return work();
  }

  /** The index cannot say what a directory held. */
  async function doubtUnlessIndexed(): Promise<void> {
    await transaction`
      update volumes set measured = false
      where tenant = ${volume.tenant} and volume_id = ${volume.volume_id} and not indexed`;
  }

  const replaced = ({ before }: Done) => (before?.isFile() ? { bytes: before.size, files: 1 } : { bytes: 0, files: 0 });

  return {
    transaction,
    isTouched: () => touched,
    aside,

    async look(path) {
      const found = lookAtDisk(spec, path);
      if (found === null) return null;
      const { stats } = found;
      const row = stats.isFile() ? ((await index.find(found.path))?.row ?? null) : null;
      const modified_us = microseconds(stats.mtimeMs);
      const holds = row?.is_file === true && row.size === stats.size && sameTime(row.modified_us, modified_us);
      const { sha256, mime_type } = holds ? row : { sha256: null, mime_type: null };
      return entryOf(
        { entry_id: "", is_file: !stats.isDirectory(), size: stats.size, modified_us, sha256, mime_type },
        path,
      );
    },

    async put(path, { draft, size, content }) {
      if (!(draft instanceof LocalDraft)) throw new TypeError("the draft is another place's");
      const done = onDisk(() => putOnDisk(spec, path, draft.path));
      draft.placed();
      const modifiedUs = microseconds(done.stats.mtimeMs);
      await index.put(done.path, { entryId: crypto.randomUUID(), size, modifiedUs, content });
      const { bytes, files } = replaced(done);
      await index.count(size - bytes, 1 - files);
      const row = { entry_id: "", is_file: true, size, modified_us: modifiedUs, ...content };
      return entryOf(row, path);
    },

    async makeDirectory(path) {
      const done = onDisk(() => makeDirectoryOnDisk(spec, path));
      await index.directory(done.path, microseconds(done.stats.mtimeMs));
    },

    async move(from, to, overwrite) {
      const { from: source, done } = onDisk(() => moveOnDisk(spec, from, to, overwrite));
      if (source === done.path) return;
      await index.move(source, done.path, microseconds(done.stats.mtimeMs));
      const { bytes, files } = replaced(done);
      await index.count(-bytes, -files);
    },

    async remove(path) {
      const name = crypto.randomUUID();
      const done = onDisk(() => putAside(spec, path, trash, name));
      if (done === null) {
        await removePiecemeal(path);
        return;
      }
      aside.push(join(trash, name));
      const isDirectory = done.stats.isDirectory();
      await index.remove(done.path);
      const { bytes, files } = replaced(done);
      await index.count(-bytes, -files);
      if (isDirectory) await doubtUnlessIndexed();
    },
  };

  /** What is closed is opened on the way by the tool; how much of it went is to be found out. */
  async function removePiecemeal(path: string): Promise<void> {
    const request = {
      name: "fs.delete",
      arguments: { path, recursive: true },
      tenant: volume.tenant,
      signal: AbortSignal.timeout(30_000),
    };
    const outcome = await runFsTool(spec, request).catch(outcomeOf);
    if (outcome.status === "refused") throw invalidPath("leads out of the volume");
    if (outcome.status === "failed") throw new ToolFailure(outcome.code, outcome.message);
    await transaction`
      update volumes set measured = false where tenant = ${volume.tenant} and volume_id = ${volume.volume_id}`;
  }
}
