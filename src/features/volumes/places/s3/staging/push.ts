/** Writing back what executions changed in the copy of a volume: every file whole, all rows in one transaction. */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, read } from "node:fs";
import type { Transaction } from "../../../../../store/postgres/pool.ts";
import { View, viewOf } from "../../../../tools/fs/port.ts";
import { sniffBytes, sniffedType, typeOfName } from "../../../media-types.ts";
import { changingIndex, entriesOf } from "../../index/entries.ts";
import type { Arrival, Change, Landed, Places, VolumeAt } from "../../port.ts";
import { type Manifest, markOfStats, type VolumeCopy } from "./copy.ts";
import { type PushPlan, planPush } from "./plan.ts";
import type { StoredEntry } from "./records.ts";

const pieceBytes = 1024 * 1024;
/** Files that go at once. */
const atOnce = 4;

export interface Push {
  readonly places: Pick<Places, "draft" | "change">;
  readonly volume: VolumeAt;
  readonly copy: VolumeCopy;
  readonly stored: readonly StoredEntry[];
  /** Whether what others wrote since the copy was in line is left as it is; otherwise the last writer of a file wins. */
  readonly isLate: boolean;
  /** Whether what the volume holds, as the transaction counts it, fits all quotas. */
  readonly fits: (transaction: Transaction) => Promise<boolean>;
  /** What is to be true with it. */
  readonly committed: (transaction: Transaction) => Promise<void>;
  readonly signal: AbortSignal | null;
}

interface Changed {
  readonly path: string;
  readonly arrival: Arrival;
  readonly mark: string;
}

export async function push(work: Push): Promise<Landed> {
  const { copy, stored } = work;
  const known = copy.known();
  const plan = planPush(stored, await copy.look(), known);
  const { next } = plan;
  const changed = await changes(work, plan.candidates, known, next);
  let ids: ReadonlyMap<string, string>;
  try {
    ids = await work.places.change(work.volume, (change) => write(work, change, plan, changed, known));
  } catch (error) {
    if (error instanceof NoRoom) return "no_room";
    throw error;
  } finally {
    await Promise.all(changed.map(({ arrival }) => arrival.draft.discard()));
  }
  for (const { path, arrival, mark } of changed) {
    const id = ids.get(path);
    if (id !== undefined) next.set(path, { id, mark, sha256: arrival.content.sha256 });
  }
  copy.note(next);
  return "written";
}

/** @returns ids of the entries of the files that were put, by path @throws NoRoom */
async function write(
  { volume, isLate, fits, committed }: Push,
  change: Change,
  { made, removed }: PushPlan,
  changed: readonly Changed[],
  known: Manifest,
): Promise<ReadonlyMap<string, string>> {
  const { transaction } = change;
  const index = changingIndex(transaction, volume);
  for (const path of removed) await remove(change, index, volume.volume_id, path, known.get(path));
  for (const path of made) {
    const there = await change.look(`/${path}`);
    if (there === null && !(await isBelowFile(transaction, volume, path))) await change.makeDirectory(`/${path}`);
  }
  const ids = new Map<string, string>();
  let more = 0;
  for (const { path, arrival } of changed) {
    const there = await index.find(`/${path}`);
    // A directory was made there meanwhile, or something newer.
    if (there?.row.is_file === false) continue;
    if (there === null && (await isBelowFile(transaction, volume, path))) continue;
    if (isLate && there !== null && there.row.entry_id !== known.get(path)?.id) continue;
    more += arrival.size - (there?.row.size ?? 0);
    await change.put(`/${path}`, arrival);
    const placed = await index.find(`/${path}`);
    if (placed !== null) ids.set(path, placed.row.entry_id);
  }
  if (more > 0 && !(await fits(transaction))) throw new NoRoom();
  await committed(transaction);
  return ids;
}

class NoRoom extends Error {}

/** Whether a file was put meanwhile where the copy has a directory. */
async function isBelowFile(transaction: Transaction, volume: VolumeAt, path: string): Promise<boolean> {
  const found = await entriesOf(transaction).walk(volume, path);
  return found?.last.is_file === true;
}

/** A removal takes away no more than what this host knew: what was written elsewhere since stays. */
async function remove(
  change: Change,
  index: ReturnType<typeof changingIndex>,
  volumeId: string,
  path: string,
  before: ReturnType<Manifest["get"]>,
): Promise<void> {
  const there = await index.find(`/${path}`);
  if (there === null) return;
  const isSame = before === null ? !there.row.is_file : there.row.entry_id === before?.id;
  if (!isSame) return;
  if (before === null && !(await isEmpty(change, volumeId, there.row.entry_id))) return;
  await change.remove(`/${path}`);
}

async function isEmpty({ transaction }: Change, volumeId: string, directoryId: string): Promise<boolean> {
  const rows = await transaction`select from volume_entries
    where volume_id = ${volumeId} and parent_id = ${directoryId} limit 1`;
  return rows.length === 0;
}

/** Files whose content differs from what the volume has, on their way. The others are noted as they are. */
async function changes(
  { places, volume, copy, stored, signal }: Push,
  candidates: string[],
  known: Manifest,
  next: Manifest,
): Promise<Changed[]> {
  const changed: Changed[] = [];
  const current = new Map(stored.map((entry) => [entry.path, entry]));
  const goOn = async (): Promise<void> => {
    for (let path = candidates.pop(); path !== undefined; path = candidates.pop()) {
      signal?.throwIfAborted();
      const opened = openSafely(copy, path);
      // Gone since it was seen: the next write-back finds that out.
      if (opened === null) continue;
      try {
        const mark = markOfStats(fstatSync(opened, { bigint: true }));
        const sha256 = await digestOf(opened, signal);
        const same = current.get(path);
        if (same !== undefined && !same.directory && same.sha256 === sha256) {
          next.set(path, { id: same.id, mark, sha256 });
          continue;
        }
        const arrival = await send(places, volume, opened, path, signal);
        // Still being written, by another execution: it is written back with that one, and until then as it was.
        if (markOfStats(fstatSync(opened, { bigint: true })) === mark) changed.push({ path, arrival, mark });
        else {
          await arrival.draft.discard();
          const before = known.get(path);
          if (before !== undefined) next.set(path, before);
        }
      } finally {
        closeSync(opened);
      }
    }
  };
  const workers = await Promise.allSettled(
    Array.from({ length: atOnce }, () =>
      goOn().catch((error: unknown) => {
        candidates.length = 0;
        throw error;
      }),
    ),
  );
  const failed = workers.find((one) => one.status === "rejected");
  if (failed === undefined) return changed;
  await Promise.allSettled(changed.map(({ arrival }) => arrival.draft.discard()));
  throw failed.reason;
}

function openSafely({ directory }: VolumeCopy, path: string): number | null {
  using view = new View(viewOf(directory, "/"));
  try {
    return view.at(
      `/${path}`,
      { access: "read", keepLink: true },
      (found) => view.openFile(found, constants.O_RDONLY).fd,
    );
  } catch {
    return null;
  }
}

async function digestOf(fd: number, signal: AbortSignal | null): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of piecesOf(fd, signal)) hash.update(piece);
  return hash.digest("hex");
}

async function send(
  places: Pick<Places, "draft">,
  volume: VolumeAt,
  fd: number,
  path: string,
  signal: AbortSignal | null,
): Promise<Arrival> {
  const draft = await places.draft(volume);
  try {
    const hash = createHash("sha256");
    let size = 0;
    let head: Uint8Array = new Uint8Array(0);
    for await (const piece of piecesOf(fd, signal)) {
      if (head.byteLength < sniffBytes) head = Buffer.concat([head, piece]).subarray(0, sniffBytes);
      hash.update(piece);
      size += piece.byteLength;
      await draft.write(piece);
    }
    await draft.finish();
    const mime_type = sniffedType(head) ?? typeOfName(path.slice(path.lastIndexOf("/") + 1));
    return { draft, size, content: { sha256: hash.digest("hex"), mime_type } };
  } catch (error) {
    await draft.discard();
    throw error;
  }
}

async function* piecesOf(fd: number, signal: AbortSignal | null): AsyncGenerator<Uint8Array> {
  for (let at = 0; ; ) {
    signal?.throwIfAborted();
    const buffer = new Uint8Array(pieceBytes);
    const got = await new Promise<number>((resolve, reject) => {
      read(fd, buffer, 0, pieceBytes, at, (error, count) => (error === null ? resolve(count) : reject(error)));
    });
    if (got === 0) return;
    yield buffer.subarray(0, got);
    at += got;
  }
}
