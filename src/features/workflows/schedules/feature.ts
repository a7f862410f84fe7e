/** Workflows that start by themselves. */
import { workflowSchedule } from "../../../../actors/workflow/schedule/schedule.ts";
import { audit } from "../../audit/feature.ts";
import { defineFeature } from "../../feature.ts";
import { limits } from "../../limits/feature.ts";
import { tenants } from "../../tenants/feature.ts";
import { definitions } from "../definitions/feature.ts";
import { runs } from "../runs/feature.ts";
import { exported } from "./exported.ts";
import { following } from "./following.ts";
import { scheduleMetrics } from "./metrics.ts";
import { eraseSchedules, releaseSchedules } from "./of-tenant.ts";
import { scheduleRecords } from "./records.ts";
import { scheduleRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createScheduleService } from "./service.ts";
import { scheduledStartActivity } from "./start.ts";

export const workflowSchedules = defineFeature({
  name: "workflows/schedules",
  exported,
  tenantTables: ["workflow_schedules"],
  schemas: named,
  needs: { audit, definitions, limits, runs, tenants },
  open({ sql, runtime, now, newId, warn, ...node }, { audit, definitions, limits, runs, tenants }) {
    const records = scheduleRecords(sql);
    const { metrics, count } = scheduleMetrics(records);
    const { follower, settle, sweep } = following({ records, runtime, now, warn });
    definitions.followedBy(follower);
    tenants.whenActive((tenant) => {
      releaseSchedules({ runtime, records }, tenant).catch((error: unknown) =>
        warn("workflow_schedules_held", { tenant, error: String(error) }),
      );
    });
    const schedules = createScheduleService({
      sql,
      runtime,
      records,
      audit,
      findWorkflow: (tenant, ref) => definitions.choices.find(tenant, { ref, version: null }),
      begin: runs.beginAs,
      settle,
      now,
      warn,
    });
    return {
      service: null,
      routes: scheduleRoutes({
        schedules,
        sql,
        rates: limits.tell("workflow_execution"),
        newRunId: runs.newId,
        newId,
      }),
      actors: [workflowSchedule],
      activities: () => [
        scheduledStartActivity({
          records,
          tenants: node.tenants,
          start: runs.startAs,
          startedAs: runs.startedAs,
          count,
          now,
          warn,
        }),
      ],
      sweeps: [sweep],
      erase: (tenant) => eraseSchedules({ runtime, records }, tenant),
      metrics,
    };
  },
});
