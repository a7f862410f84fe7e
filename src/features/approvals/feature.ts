/** Approvals: what people decide for a workflow run. */

import { approval } from "../../../actors/approval/approval.ts";
import { integer } from "../../config/setting.ts";
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import { openDeadlines } from "./deadlines/deadlines.ts";
import { eraseApprovals, startApprovalSweep } from "./deadlines/sweep.ts";
import { exported } from "./exported.ts";
import { approvalLinkRoutes } from "./links/links.ts";
import { approvalNotifyActivity } from "./notify/notify.ts";
import { approvalsProjection } from "./projection.ts";
import { approvalRecords } from "./records.ts";
import { approvalRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createApprovals } from "./service.ts";

export const approvals = defineFeature({
  name: "approvals",
  exported,
  tenantTables: ["approvals", "approval_links"],
  schemas: named,
  needs: { incidents },
  settings: {
    approvalRetentionDays: integer("SVC_APPROVAL_RETENTION_DAYS", {
      meaning: "how long the history of a decided approval is kept",
      unit: "days",
      min: 1,
      max: 3650,
      default: 400,
    }),
  },
  open(
    { settings, sql, redisServers, prefix, runtime, outside, mail, publicUrl, callerOf, tenants, now, newId, info },
    { incidents },
  ) {
    const deadlines = openDeadlines({ redisServers, prefix, runtime, now });
    const records = approvalRecords(sql);
    const approvals = createApprovals({ runtime, records, publicUrl, now });
    const retentionDays = settings.approvalRetentionDays;
    return {
      service: approvals,
      routes: [...approvalRoutes({ approvals, sql, newId }), ...approvalLinkRoutes(approvals, callerOf, tenants)],
      actors: [approval],
      activities: () => [approvalNotifyActivity({ runtime, outside, incidents, mail, publicUrl, now })],
      projections: [approvalsProjection(deadlines.committed)],
      queues: [{ name: "approval_jobs", depth: deadlines.waiting }],
      jobs: [
        () => {
          deadlines.work();
          return () => deadlines.close();
        },
      ],
      erase: (tenant) => eraseApprovals({ runtime, records }, tenant),
      // It holds connections from its opening on, also on a node whose start failed before the job began.
      close: () => deadlines.close(),
      sweeps: [() => startApprovalSweep({ runtime, records, retentionDays, now, report: info })],
    };
  },
});
