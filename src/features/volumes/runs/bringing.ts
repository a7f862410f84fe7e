/** Volumes of a run whose bytes lie elsewhere, brought to this host for people who read the files of the run. */
import type { MountPlan } from "../../../../actors/execution/start/plan.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { LaunchFailure } from "../../../adapters/sandbox/port.ts";
import { isDirectory, type VolumeLayout } from "../layout.ts";
import type { Places } from "../places/port.ts";

/** What was brought is not compared again for so long, ms. */
const freshMs = 10_000;
/** Volumes of which that is remembered. */
const maxRemembered = 1_000;

export function bringing(layout: VolumeLayout, places: Pick<Places, "arrive">, now: () => number) {
  const broughtAt = new Map<string, number>();
  return {
    /**
     * @param isOver whether the run is: while it is not, what its host has is shown as it is
     * @throws Problem 503 where this host cannot have it
     */
    async bring(
      tenant: string,
      mounts: readonly MountPlan[],
      isOver: boolean,
      signal: AbortSignal | null,
    ): Promise<void> {
      for (const { storage_class, volume_id } of mounts) {
        if (storage_class !== "persistent") continue;
        const isHere = isDirectory(layout.volume(volume_id));
        if (isHere && (!isOver || now() - (broughtAt.get(volume_id) ?? 0) < freshMs)) continue;
        const reader = { executionId: volume_id, instanceId: volume_id, writes: false };
        await places.arrive({ tenant, volume_id }, reader, signal).catch((error: unknown) => {
          if (!(error instanceof LaunchFailure)) throw error;
          throw new Problem("service_unavailable", error.message, {}, { "Retry-After": "60" });
        });
        if (broughtAt.size >= maxRemembered) broughtAt.clear();
        broughtAt.set(volume_id, now());
      }
    },
  };
}
