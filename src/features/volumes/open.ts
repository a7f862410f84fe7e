/** Volumes with everything the rest of the service asks of them, put together. */
import type { MountPlan, Plan } from "../../../actors/execution/start/plan.ts";
import { createFsTools } from "../tools/fs/provider.ts";
import type { ToolProvider } from "../tools/port.ts";
import { type Attachment, checkAttachments, checkFiles } from "./attachments/attachments.ts";
import { createAttachmentTool } from "./attachments/tool.ts";
import { createVolumes, type VolumesOptions } from "./volumes.ts";
import { type RunStorage, settleRun } from "./workflow-volumes.ts";

export type OpenVolumes = ReturnType<typeof openVolumes>;

export function openVolumes(options: VolumesOptions) {
  const volumes = createVolumes(options);
  type Checked = Parameters<typeof checkAttachments>;
  return {
    ...volumes,

    /** See `attachments.ts`. */
    checkAttachments: (
      tenant: string,
      reader: Checked[2],
      refs: Checked[3],
      inputSchema: Checked[4],
      tools: Checked[5],
    ): Promise<Attachment[]> => checkAttachments(volumes, tenant, reader, refs, inputSchema, tools),

    /** Likewise, for a workflow: it takes whatever it is given. */
    checkFiles: (tenant: string, reader: Checked[2], refs: Checked[3]): Promise<Attachment[]> =>
      checkFiles(volumes, tenant, reader, refs),

    /** See `workflow-volumes.ts`. */
    settleRun: (storage: RunStorage): Promise<MountPlan[]> => settleRun(volumes.records, options.newId, storage),

    /** The tools that work on volumes. @param planOf of an execution of the tenant */
    toolProviders(planOf: (tenant: string, executionId: string) => Promise<Plan>): readonly ToolProvider[] {
      return [
        createFsTools(async (tenant, executionId, growing) => volumes.view(await planOf(tenant, executionId), growing)),
        // Written by the start from what `checkAttachments` gave it.
        createAttachmentTool(
          volumes,
          async (tenant, executionId) => (await planOf(tenant, executionId)).attachments as Attachment[],
        ),
      ];
    },
  };
}
