/** One change of a volume whose bytes are objects: rows alone, since an object never moves. */
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { Transaction } from "../../../../store/postgres/pool.ts";
import { ToolFailure } from "../../../tools/port.ts";
import { isDirectoryProblem } from "../../paths.ts";
import { changingIndex, entriesOf, entryOf, segmentsOfPath } from "../index/entries.ts";
import type { Change, Entry, VolumeAt } from "../port.ts";
import { ObjectDraft, type ObjectDrafts } from "./drafts.ts";

/**
 * @param put told of each draft that is at a path once the transaction commits
 * @param detached told that a directory goes, whose files count until they are taken away
 */
export function objectChange(
  transaction: Transaction,
  volume: VolumeAt,
  drafts: Pick<ObjectDrafts, "take">,
  put: (draft: ObjectDraft) => void,
  detached: () => void,
): Change {
  const index = changingIndex(transaction, volume);
  const { walk, list } = entriesOf(transaction);

  async function moment(): Promise<number> {
    const [row] = await transaction<{ us: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000000)::bigint::double precision as us`;
    return row?.us ?? 0;
  }

  async function look(path: string): Promise<Entry | null> {
    const found = await walk(volume, path);
    return found === null || found.depth !== segmentsOfPath(path).length ? null : entryOf(found.last, path);
  }

  /** @throws Problem 409 where a file stands on the way to a path, or at it */
  async function requireWay(path: string): Promise<void> {
    const found = await walk(volume, path);
    if (found?.last.is_file === true) throw destinationExists();
  }

  const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";

  return {
    transaction,
    look,

    async put(path, { draft, size, content }) {
      if (!(draft instanceof ObjectDraft)) throw new TypeError("a draft of another place");
      const before = await look(path);
      if (before?.directory === true) throw isDirectoryProblem();
      const parent = await walk(volume, parentOf(path));
      if (parent?.last.is_file === true) throw new ToolFailure("not_a_directory", "A file stands on the way");
      await drafts.take(transaction, draft.entryId);
      const modifiedUs = await moment();
      const replaced = await index.put(path, { entryId: draft.entryId, size, modifiedUs, content });
      if (replaced !== null) await index.detach(replaced.entry_id, true, false);
      await index.count(size - (replaced?.size ?? 0), replaced === null ? 1 : 0);
      put(draft);
      return entryOf(
        {
          entry_id: draft.entryId,
          is_file: true,
          size,
          modified_us: modifiedUs,
          sha256: content.sha256,
          mime_type: content.mime_type,
        },
        path,
      );
    },

    async makeDirectory(path) {
      await requireWay(path);
      await index.directory(path, await moment());
    },

    async move(from, to, overwrite) {
      const source = await index.find(from);
      if (source === null) throw new ToolFailure("not_found", `${from} does not exist`);
      if (from === to) return;
      const target = await index.find(to);
      if (target !== null) {
        const { row } = target;
        if (!overwrite) throw destinationExists();
        const isEmpty =
          !row.is_file && (await list(volume.volume_id, row.entry_id, { ...first, path: to })).length === 0;
        if (source.row.is_file !== row.is_file || !(row.is_file || isEmpty)) throw destinationExists();
      }
      await requireWay(parentOf(to));
      const replaced = await index.move(from, to, await moment());
      if (replaced?.is_file !== true) return;
      await index.detach(replaced.entry_id, true, false);
      await index.count(-replaced.size, -1);
    },

    async remove(path) {
      const removed = await index.remove(path);
      if (removed === null) throw new ToolFailure("not_found", `${path} does not exist`);
      if (!removed.is_file) {
        detached();
        return;
      }
      await index.detach(removed.entry_id, true, false);
      await index.count(-removed.size, -1);
    },
  };
}

const first = { limit: 1, offset: 0, after: null };
const destinationExists = (): Problem => new Problem("destination_exists", "Something else is at that path");
