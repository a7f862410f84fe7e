/**
 * Size limits inside instances. Where the file system itself does not refuse a write that is too much, what commands
 * write is measured while they run, at once when their file system grows and while they stand still, and an instance
 * that goes beyond a limit is ended.
 */
import type { Plan } from "../../../../actors/execution/start/plan.ts";
import { mountPoints } from "../../../../actors/policy/filesystem/mounts.ts";
import { leastRoom, type Room, type WrittenVolume } from "../../../../actors/policy/storage-room.ts";
import { DiskGrowth, type Hold, watchGrowth } from "../../../lib/files/disk-growth.ts";
import { measure, type VolumeLayout } from "../layout.ts";
import { fresh, type SharedBounds } from "./shared-bounds.ts";

const everyMs = 4_000;
/** What a file, directory or link counts for at least. */
const leastBytes = 1_024;
/** Growth that the records are told of while it goes on, so that other writers see it. */
const toldBytes = 4 * 2 ** 20;

/** What is watched, and for whom. */
export interface Watched {
  readonly tenant: string;
  readonly executionId: string;
  readonly plan: Pick<Plan, "mounts" | "filesystem" | "resources">;
  /** Has the instance stand still while it is measured. */
  readonly hold: Hold;
  /** Called at most once. */
  exceeded(room: Room): void;
}

export interface SizeWatchParts {
  readonly layout: VolumeLayout;
  readonly bounds: SharedBounds;
  /** Tells the records what a volume holds, while it is written to. */
  readonly noteUsage: (volumeId: string, bytes: number, files: number) => Promise<void>;
}

/**
 * Watches the volumes that an instance may write to. Its implicit workspace is bounded by `resources.disk` and is the
 * sandbox's to measure, unless a policy mounts it in parts.
 * @returns a function that ends it
 */
export function watchLimits({ layout, bounds, noteUsage }: SizeWatchParts, watched: Watched): () => void {
  const { tenant, executionId, plan, hold, exceeded } = watched;
  const points = mountPoints(plan.mounts, plan.filesystem);
  const volumes = plan.mounts.flatMap((mount) => {
    const mine = points.filter(({ volume }) => volume === mount.mount_path);
    if (!mine.some(({ access }) => access === "read-write")) return [];
    const isImplicit = mount.volume_id === executionId;
    if (isImplicit && mine.length === 1) return [];
    const quota: WrittenVolume["quota"] = isImplicit ? "disk" : "size_limit_bytes";
    const limit = isImplicit ? plan.resources.disk_bytes : mount.size_limit_bytes;
    return [{ id: mount.volume_id, directory: layout.directoryOf(mount), limit, quota, told: 0 }];
  });
  const [first] = volumes;
  if (first === undefined) return () => {};
  const before = new Map<string, number>();
  const shared = fresh(() =>
    bounds(
      tenant,
      volumes.map(({ id }) => id),
    ),
  );
  // All of them lie in one data directory.
  const growth = new DiskGrowth(first.directory, everyMs, null);
  const look = async (): Promise<number | null> => {
    const bounding = shared();
    const written: WrittenVolume[] = [];
    for (const volume of volumes) {
      const { bytes, files, entries } = await measure(volume.directory);
      // File systems run out of places for files as well as of bytes.
      const taken = Math.max(bytes, entries * leastBytes);
      if (!before.has(volume.id)) before.set(volume.id, taken);
      written.push({ ...volume, before: before.get(volume.id) ?? taken, taken });
      if (Math.abs(bytes - volume.told) < toldBytes) continue;
      volume.told = bytes;
      void noteUsage(volume.id, bytes, files).catch(() => {});
    }
    // Without the database the bounds of single volumes hold all the same.
    const room = leastRoom(written, await bounding.catch(() => []));
    if (room === null || room.bytes >= 0) return room?.bytes ?? null;
    stop();
    exceeded(room);
    return null;
  };
  const stop = watchGrowth(growth, look, hold, () => {});
  return stop;
}
