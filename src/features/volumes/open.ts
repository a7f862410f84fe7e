/** Volumes with everything the rest of the service asks of them, put together. */
import type { Attachment, MountPlan, Plan } from "../../../actors/execution/start/plan.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { createFsTools } from "../tools/fs/feature.ts";
import type { ToolProvider } from "../tools/port.ts";
import { checkFiles } from "./attachments/attachments.ts";
import { createAttachmentTool } from "./attachments/tool.ts";
import { createVolumes, type Volumes, type VolumesOptions } from "./execution-volumes.ts";
import type { VolumeReader } from "./records.ts";
import { type RunStorage, settleRun } from "./workflow-volumes.ts";

export type OpenVolumes = ReturnType<typeof openVolumes>;

export function openVolumes(options: VolumesOptions) {
  const volumes: Volumes = createVolumes(options);
  return {
    ...volumes,

    /** Finds the files that a start attaches (`attachments/attachments.ts`). */
    checkFiles: (tenant: string, reader: VolumeReader, references: readonly Json[]): Promise<Attachment[]> =>
      checkFiles(volumes, tenant, reader, references),

    /** See `workflow-volumes.ts`. */
    settleRun: (storage: RunStorage): Promise<MountPlan[]> => settleRun(volumes.records, options.newId, storage),

    /** The tools that work on volumes. @param planOf of an execution of the tenant */
    toolProviders(planOf: (tenant: string, executionId: string) => Promise<Plan>): readonly ToolProvider[] {
      return [
        createFsTools(async (tenant, executionId, growing) => volumes.view(await planOf(tenant, executionId), growing)),
        createAttachmentTool(volumes, async (tenant, executionId) => (await planOf(tenant, executionId)).attachments),
      ];
    },
  };
}
