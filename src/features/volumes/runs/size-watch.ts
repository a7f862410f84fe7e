/**
 * Size limits inside instances. Directories of a host cannot be made to refuse a write that is too much, so what
 * commands write is measured while they run, at once when their file system grows, and an instance that goes beyond a
 * limit is ended.
 */
import type { Plan } from "../../../../actors/execution/start/plan.ts";
import { mountPoints } from "../../../../actors/policy/filesystem/mounts.ts";
import { DiskGrowth, glanceMs } from "../../../lib/files/disk-growth.ts";
import { repeatedly } from "../../../lib/timers.ts";
import { measure, type VolumeLayout } from "../layout.ts";

const everyMs = 4_000;
/** What a file, directory or link counts for at least. */
const leastBytes = 1_024;

/**
 * Watches the volumes that an instance may write to. Its implicit workspace is bounded by `resources.disk` and is the
 * sandbox's to measure, unless a policy mounts it in parts.
 * @param exceeded called at most once
 * @returns a function that ends it
 */
export function watchLimits(
  layout: VolumeLayout,
  executionId: string,
  plan: Pick<Plan, "mounts" | "filesystem" | "resources">,
  exceeded: () => void,
): () => void {
  const points = mountPoints(plan.mounts, plan.filesystem);
  const watched = plan.mounts.flatMap((mount) => {
    const mine = points.filter(({ volume }) => volume === mount.mount_path);
    if (!mine.some(({ access }) => access === "read-write")) return [];
    const isImplicit = mount.volume_id === executionId;
    if (isImplicit && mine.length === 1) return [];
    const limit = isImplicit ? plan.resources.disk_bytes : mount.size_limit_bytes;
    return [{ directory: layout.directoryOf(mount), limit, known: false }];
  });
  const [first] = watched;
  if (first === undefined) return () => {};
  // All of them lie in one data directory.
  const growth = new DiskGrowth(first.directory, everyMs, null);
  const look = async (): Promise<number> => {
    let room = Number.POSITIVE_INFINITY;
    for (const volume of watched) {
      const { bytes, entries } = await measure(volume.directory);
      // File systems run out of places for files as well as of bytes.
      const taken = Math.max(bytes, entries * leastBytes);
      // What lay there before is nothing this instance did.
      if (!volume.known) volume.limit = Math.max(volume.limit, taken);
      volume.known = true;
      room = Math.min(room, volume.limit - taken);
      if (room >= 0) continue;
      stop();
      exceeded();
      break;
    }
    return room;
  };
  const glance = async (): Promise<void> => {
    if (growth.isDue()) await growth.measuring(look);
  };
  const stopMeasuring = repeatedly(glanceMs, glance, () => {});
  const stop = (): void => void stopMeasuring();
  return stop;
}
