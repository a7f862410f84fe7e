/** What of a run's volumes the file tools and its readers reach. */
import type { MountPlan, Plan } from "../../../../actors/execution/start/plan.ts";
import type { ViewSpec } from "../../tools/fs/port.ts";
import { isDirectory, measure, type VolumeLayout } from "../layout.ts";
import { makeVolumes, type Staging } from "./instance-mounts.ts";

/** What is reached of the volumes of a run through the file tools. */
export function viewing(layout: VolumeLayout, places: Staging) {
  return {
    /**
     * What the `fs.*` tools of a run may reach, its directories made.
     * @param growing whether more may be written: then the room that is left is measured
     */
    async view(plan: Pick<Plan, "mounts" | "filesystem">, growing: boolean): Promise<ViewSpec> {
      const { mounts, filesystem } = plan;
      await makeVolumes(layout, places, mounts);
      const bound = filesystem.read_only || filesystem.read.length > 0 || filesystem.write.length > 0;
      return {
        mounts: await Promise.all(
          mounts.map(async (mount) => {
            const host = layout.directoryOf(mount);
            const used = growing ? await measure(host) : null;
            return {
              host,
              target: mount.mount_path,
              readOnly: mount.access_mode === "read-only",
              freeBytes: used === null ? null : Math.max(0, mount.size_limit_bytes - used.bytes),
            };
          }),
        ),
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
