/** The activity `workflow.cleanup`: ephemeral volumes go with their run. */
import { Value } from "@sinclair/typebox/value";
import { CLEANUP, Cleanup } from "../../../../actors/workflow/run/activities.ts";
import type { ActivityDefinition } from "../../../runtime/port.ts";
import type { Volumes } from "../../volumes/volumes.ts";

export function cleanupActivity(volumes: Pick<Volumes, "removeOfRun">): ActivityDefinition {
  return {
    name: CLEANUP,
    concurrency: 8,
    retry: { attempts: 10, firstDelayMs: 1000 },
    // Volumes lie on the machine that the run's work was done on; the sweep of other hosts removes what lies there.
    hostBound: true,
    run: async (input) => {
      const { execution_id, volume_ids } = Value.Parse(Cleanup, input);
      await volumes.removeOfRun(execution_id, volume_ids);
      return null;
    },
  };
}
