/** The dashboard: a day of a tenant in figures, beside how the cluster is. */
import { iso } from "../../../actors/kernel/time.ts";
import { defineRoute } from "../../http/route.ts";
import { audit } from "../audit/feature.ts";
import { tenantsShown } from "../audit/port.ts";
import { cluster } from "../cluster/feature.ts";
import { executions } from "../executions/feature.ts";
import { countEnded, countOpen } from "../executions/port.ts";
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import { history } from "../stimuli/history/feature.ts";
import { storageViolations } from "../storage-violations/feature.ts";
import { swarms } from "../swarms/feature.ts";
import { runs } from "../workflows/runs/feature.ts";
import { createCounts } from "./counts.ts";
import { inPieces } from "./pieces.ts";
import { Dashboard, DashboardQuery } from "./schema.ts";

/** What the figures of recent work go up to. */
const mostRecent = 25;

export const dashboard = defineFeature({
  name: "dashboard",
  needs: { audit, cluster, executions, incidents, history, storageViolations, swarms, runs },
  schemas: { Dashboard },
  open({ sql, now }, { audit, cluster, incidents, history, storageViolations, swarms, runs }) {
    const counted = createCounts(
      {
        executions: inPieces(sql, { settled: countEnded, open: countOpen }, now),
        runs: inPieces(sql, { settled: runs.countEnded, open: runs.countOpen }, now),
        stimuli: inPieces(sql, { settled: history.countReceived, open: null }, now),
        incidents: incidents.countSince,
        violations: storageViolations.countSince,
        activeSwarms: swarms.countActive,
      },
      now,
    );
    return {
      service: null,
      routes: ["/v1/dashboard/summary", "/v1/observability/dashboard"].map((path) =>
        defineRoute({
          method: "GET",
          path,
          summary: "The last 24 hours of the tenant in figures, and how the cluster is",
          tag: "observability",
          scope: "observability:read",
          query: DashboardQuery,
          responses: { 200: Dashboard },
          refusals: ["operator_required"],
          handler: async (call) => {
            const counts = await counted(await tenantsShown({ sql, audit, now }, "dashboard", call));
            return {
              generated_at: iso(now()),
              uptime_seconds: cluster.uptimeSeconds(),
              window_hours: 24 as const,
              cluster: call.identity.scopes.has("node:read") ? await cluster.summary() : null,
              swarm_count: counts.swarms,
              stimulus_count: counts.stimuli,
              security_incident_count: counts.incidents,
              storage_violation_count: counts.violations,
              execution_count: counts.executions,
              workflow_execution_count: counts.runs,
              recent_execution_count: Math.min(mostRecent, counts.executions),
              recent_workflow_execution_count: Math.min(mostRecent, counts.runs),
              executions_by_status: counts.byStatus,
              series: counts.series,
            };
          },
        }),
      ),
    };
  },
});
