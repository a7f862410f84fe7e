/** The activity `workflow.cleanup`: ephemeral volumes go with their run. */
import { cleanup } from "../../../../actors/workflow/run/activities.ts";
import type { Activity } from "../../../runtime/port.ts";
import { implement } from "../../../runtime/port.ts";
import type { Volumes } from "../../volumes/port.ts";

export function cleanupActivity(volumes: Pick<Volumes, "removeOfRun">): Activity {
  return implement(
    cleanup,
    {
      concurrency: 8,
      retry: { attempts: 10, firstDelayMs: 1000 },
      // Volumes lie on the machine that the run's work was done on; the sweep of other hosts removes what lies there.
      hostBound: true,
    },
    async ({ execution_id, volume_ids }) => {
      await volumes.removeOfRun(execution_id, volume_ids);
      return null;
    },
  );
}
