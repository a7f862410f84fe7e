/** What of a run's volumes the file tools and its readers reach. */
import type { MountPlan, Plan } from "../../../../actors/execution/start/plan.ts";
import { roomIn, type WrittenVolume } from "../../../../actors/policy/storage-room.ts";
import type { ViewSpec } from "../../tools/fs/port.ts";
import { isDirectory, measure, type VolumeLayout } from "../layout.ts";
import { makeVolumes } from "./instance-mounts.ts";
import type { SharedBounds } from "./shared-bounds.ts";

/** What is reached of the volumes of a run through the file tools. */
export function viewing(layout: VolumeLayout, bounds: SharedBounds) {
  /** Bytes that each mount may still take: its own limit, its owner's allowance and the tenant's, the lowest. */
  async function roomOf(tenant: string, mounts: readonly MountPlan[]): Promise<(mount: MountPlan) => number> {
    const ids = mounts.map(({ volume_id }) => volume_id);
    const [shared, written] = await Promise.all([
      bounds(tenant, ids),
      Promise.all(
        mounts.map(async (mount): Promise<WrittenVolume> => {
          const { bytes } = await measure(layout.directoryOf(mount));
          const { volume_id: id, size_limit_bytes: limit } = mount;
          return { id, limit, quota: "size_limit_bytes", before: bytes, taken: bytes };
        }),
      ),
    ]);
    return ({ volume_id }) => roomIn(volume_id, written, shared);
  }

  return {
    /**
     * What the `fs.*` tools of a run may reach, its directories made.
     * @param growing the tenant, where more may be written: then the room that is left is measured
     */
    async view(plan: Pick<Plan, "mounts" | "filesystem">, growing: string | null): Promise<ViewSpec> {
      const { mounts, filesystem } = plan;
      await makeVolumes(layout, mounts);
      const bound = filesystem.read_only || filesystem.read.length > 0 || filesystem.write.length > 0;
      const room = growing === null ? null : await roomOf(growing, mounts);
      return {
        mounts: mounts.map((mount) => ({
          host: layout.directoryOf(mount),
          target: mount.mount_path,
          readOnly: mount.access_mode === "read-only",
          freeBytes: room?.(mount) ?? null,
        })),
        rules: bound ? filesystem : null,
      };
    },

    /** What people may read of a run: all its volumes, nothing made. Null: this host does not hold them (any more). */
    readingView(mounts: readonly MountPlan[]): ViewSpec | null {
      const held = mounts
        .map((mount) => ({ host: layout.directoryOf(mount), target: mount.mount_path }))
        .filter(({ host }) => isDirectory(host));
      if (!held.some(({ target }) => target === "/workspace")) return null;
      return { mounts: held.map((mount) => ({ ...mount, readOnly: true, freeBytes: null })), rules: null };
    },
  };
}
