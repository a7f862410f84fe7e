/** Volumes with everything the rest of the service asks of them, put together. */
import type { Attachment, MountPlan, Plan } from "../../../actors/execution/start/plan.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { Violation } from "../storage-violations/port.ts";
import { createFsTools } from "../tools/fs/feature.ts";
import type { ToolProvider, ToolRequest } from "../tools/port.ts";
import { checkFiles } from "./attachments/attachments.ts";
import { createAttachmentTool } from "./attachments/tool.ts";
import type { VolumeReader } from "./records.ts";
import { createVolumes, type Volumes, type VolumesOptions } from "./runs/execution-volumes.ts";
import { type RunStorage, settleRun } from "./runs/workflow-volumes.ts";

export type OpenVolumes = ReturnType<typeof openVolumes>;

export function openVolumes(options: VolumesOptions) {
  const volumes: Volumes = createVolumes(options);
  const { recordViolation } = options;
  return {
    ...volumes,

    /** Finds the files that a start attaches (`attachments/attachments.ts`). */
    checkFiles: (tenant: string, reader: VolumeReader, references: readonly Json[]): Promise<Attachment[]> =>
      checkFiles(volumes, tenant, reader, references),

    /** See `runs/workflow-volumes.ts`. */
    settleRun: (storage: RunStorage): Promise<MountPlan[]> => settleRun(volumes.records, options.newId, storage),

    /** The tools that work on volumes. @param planOf of an execution of the tenant */
    toolProviders(planOf: (tenant: string, executionId: string) => Promise<Plan>): readonly ToolProvider[] {
      const fsTools = createFsTools(async (tenant, executionId, growing) =>
        volumes.view(await planOf(tenant, executionId), growing ? tenant : null),
      );
      return [
        {
          ...fsTools,
          call: async (request) => {
            const outcome = await fsTools.call(request);
            if (outcome.status === "failed" && outcome.code === "quota_exceeded") recordViolation(fullOf(request));
            return outcome;
          },
        },
        createAttachmentTool(volumes, async (tenant, executionId) => (await planOf(tenant, executionId)).attachments),
      ];
    },
  };
}

/** A tool would have made a volume larger than it may be. */
function fullOf({ tenant, executionId, name, arguments: given }: ToolRequest): Violation {
  const { path } = given;
  return {
    category: "quota_exceeded",
    tenant,
    by: null,
    volumeId: null,
    executionId,
    path: typeof path === "string" ? path : null,
    operation: name,
    details: {},
  };
}
