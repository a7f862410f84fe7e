/** Bringing what a volume holds to its copy on this host: no more than what changed since they were last in line. */
import { createHash } from "node:crypto";
import { chownSync, lstatSync, renameSync, rmSync, statfsSync, utimesSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "../../../../../../actors/kernel/problem.ts";
import type { ObjectStore } from "../../../../../adapters/objects/port.ts";
import { LaunchFailure } from "../../../../../adapters/sandbox/port.ts";
import { removeDirectory } from "../../../../../lib/files/remove-directory.ts";
import { address, View, viewOf } from "../../../../tools/fs/port.ts";
import type { VolumeAt } from "../../port.ts";
import { keyOf } from "../drafts.ts";
import { markOfStats, tooMany, type VolumeCopy } from "./copy.ts";
import { planPull } from "./plan.ts";
import { maxStaged, type StoredEntry } from "./records.ts";

/** Files that come at once. */
const atOnce = 4;
/** Left free on the disk for everything else, bytes. */
const reservedBytes = 64 * 1_048_576;

export interface Pull {
  readonly objects: Pick<ObjectStore, "read">;
  readonly volume: VolumeAt;
  readonly copy: VolumeCopy;
  readonly stored: readonly StoredEntry[];
  /** Whether what differs on the disk was written by executions and is still to be written back: then it stays. */
  readonly hasWriters: boolean;
  readonly signal: AbortSignal | null;
}

/** @throws LaunchFailure `volume_error` where it is too large for this host; Problem 503 */
export async function pull(work: Pull): Promise<void> {
  const { copy, stored, hasWriters, signal } = work;
  if (stored.length > maxStaged) throw tooMany();
  await copy.make();
  const disk = await copy.look().catch(async (error: unknown) => {
    if (hasWriters || !(error instanceof LaunchFailure)) throw error;
    // More than can be brought into line, and all of it given up: it begins anew.
    await copy.remove();
    await copy.make();
    return copy.look();
  });
  const { stale, next, missing } = planPull(stored, disk, copy.known(), hasWriters);
  for (const path of stale) await removeDirectory(join(copy.directory, path));
  requireRoom(copy, missing);
  for (const entry of missing.filter(({ directory }) => directory)) makeDirectory(copy, entry.path);
  const files = missing.filter(({ directory }) => !directory);
  const fetchNext = async (): Promise<void> => {
    for (let entry = files.pop(); entry !== undefined; entry = files.pop()) {
      signal?.throwIfAborted();
      const mark = await fetchFile(work, entry);
      next.set(entry.path, { id: entry.id, mark, sha256: entry.sha256 ?? "" });
    }
  };
  const workers = await Promise.allSettled(
    Array.from({ length: atOnce }, () =>
      fetchNext().catch((error: unknown) => {
        files.length = 0;
        throw error;
      }),
    ),
  );
  // Only once all of them stand still: what comes late would replace what an execution wrote since.
  const failed = workers.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  copy.note(next);
}

function requireRoom(copy: VolumeCopy, missing: readonly StoredEntry[]): void {
  const needed = missing.reduce((sum, { size }) => sum + size, 0);
  const { bavail, bsize } = statfsSync(copy.directory);
  if (needed === 0 || bavail * bsize >= needed + reservedBytes) return;
  throw new LaunchFailure("volume_error", "The disk of this node has no room for a volume of the object store");
}

function makeDirectory({ directory }: VolumeCopy, path: string): void {
  using view = new View(viewOf(directory, "/"));
  view.at(`/${path}`, { access: "write", keepLink: true, createParents: true }, (found) => {
    if (found.name !== null && view.kindOf(found) === null) view.makeDirectory(found.directory, found.name);
  });
}

/** The work is done again, with what the volume holds then. */
const changedMeanwhile = (): Problem =>
  new Problem("service_unavailable", "The volume was changed meanwhile", {}, { "Retry-After": "1" });

/** Puts a file into the copy, whole. @returns its mark */
async function fetchFile({ objects, volume, copy, signal }: Pull, entry: StoredEntry): Promise<string> {
  const { id, path, size, modifiedUs, sha256 } = entry;
  const source = await objects.read(keyOf(volume, id), { start: 0, end: size }, signal);
  if (source === null) throw changedMeanwhile();
  const draft = join(copy.layout.staged, `${crypto.randomUUID()}.part`);
  try {
    const hash = createHash("sha256");
    const file = await open(draft, "wx", 0o644);
    try {
      for await (const piece of source) {
        hash.update(piece);
        await file.writeFile(piece);
      }
    } finally {
      await file.close();
    }
    if (hash.digest("hex") !== sha256) {
      throw new LaunchFailure("volume_error", "A file of the volume came with another content than was stored");
    }
    utimesSync(draft, modifiedUs / 1e6, modifiedUs / 1e6);
    using view = new View(viewOf(copy.directory, "/"));
    return view.at(`/${path}`, { access: "write", keepLink: true, createParents: true }, (found) => {
      const { owner } = found.directory.mount;
      if (process.getuid?.() === 0) chownSync(draft, owner.uid, owner.gid);
      renameSync(draft, address(found));
      return markOfStats(lstatSync(address(found), { bigint: true }));
    });
  } finally {
    rmSync(draft, { force: true });
  }
}
