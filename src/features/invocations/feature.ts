/** Calls of tools on record: what was asked, what policy said, what became of it (docs/reference/tools.md). */
import { integer } from "../../config/setting.ts";
import { defineFeature } from "../feature.ts";
import { usageActivities } from "../usage/activities/feature.ts";
import { exported } from "./exported.ts";
import { invocationFacts } from "./facts.ts";
import { loggedResult } from "./logged-result.ts";
import { createInvocationReader } from "./records.ts";
import { invocationRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { startInvocationSweep } from "./sweep.ts";
import { createInvocationWriter } from "./writer.ts";

export const invocations = defineFeature({
  name: "invocations",
  exported,
  schemas: named,
  tenantTables: ["tool_results", "tool_invocations"],
  needs: { usageActivities },
  settings: {
    toolAuditRetentionDays: integer("SVC_TOOL_AUDIT_RETENTION_DAYS", {
      meaning: "how long records of tool calls are kept",
      unit: "days",
      min: 1,
      max: 3650,
      default: 90,
    }),
  },
  open({ settings, sql, runtime, now, info, warn }) {
    const writer = createInvocationWriter({
      sql,
      now,
      node: runtime.nodeId,
      warn: (error) => warn("tool_invocations", { error: String(error) }),
    });
    const reader = createInvocationReader(sql);
    return {
      service: { ...writer, ...reader },
      facts: [invocationFacts],
      routes: invocationRoutes({
        invocations: reader,
        loggedResult: (tenant, invocation) => loggedResult(runtime, tenant, invocation),
        now,
      }),
      queues: [{ name: "tool_invocations", depth: writer.waiting }],
      sweeps: [
        () =>
          startInvocationSweep({
            sql,
            runtime,
            retentionDays: settings.toolAuditRetentionDays,
            now,
            report: info,
          }),
      ],
      close: writer.stop,
    };
  },
});
