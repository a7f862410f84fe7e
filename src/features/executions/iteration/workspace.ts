/** The activity `workspace.remove`: an erased execution leaves nothing behind. */
import { workspaceRemove } from "../../../../actors/execution/activities.ts";
import type { Instances } from "../../../adapters/sandbox/port.ts";
import type { Activity } from "../../../runtime/port.ts";
import { implement } from "../../../runtime/port.ts";
import type { Volumes } from "../../volumes/port.ts";
import { endInstance } from "./iteration-run.ts";

export function workspaceRemoveActivity(instances: Instances, volumes: Pick<Volumes, "removeOfExecution">): Activity {
  return implement(
    workspaceRemove,
    {
      concurrency: 8,
      retry: { attempts: 10, firstDelayMs: 1000 },
      // The workspace lies on the machine that the execution ran on.
      hostBound: true,
    },
    async ({ execution_id, instance_id }) => {
      if (instance_id !== null) await endInstance(instances, instance_id);
      await volumes.removeOfExecution(execution_id);
      return null;
    },
  );
}
