/** Fleet runs: a tool on many edge hosts, in an order, within bounds, with the approval of people where it is due. */
import { fleetRun } from "../../../../actors/fleet-run/fleet-run.ts";
import { integer } from "../../../config/setting.ts";
import { audit } from "../../audit/feature.ts";
import { defineFeature } from "../../feature.ts";
import { securityContexts } from "../../security-contexts/feature.ts";
import { edgeCommands } from "../commands/feature.ts";
import { edgeGroups } from "../groups/feature.ts";
import { edgeHosts } from "../hosts/feature.ts";
import { hostTargets } from "../hosts/port.ts";
import { edgeRunStream } from "../run-stream/feature.ts";
import { fleetActivities } from "./activities.ts";
import { exported } from "./exported.ts";
import { fleetMetrics } from "./metrics.ts";
import { createHostCalls } from "./one-host.ts";
import { fleetRunProjection } from "./projection.ts";
import { createReading } from "./reading.ts";
import { runRecords } from "./records.ts";
import { fleetRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createFleet } from "./service.ts";
import { createSettings } from "./settings.ts";
import { createComposer } from "./stream/composing.ts";
import { FleetRunEvent } from "./stream/event-schema.ts";
import { runWriter } from "./stream/streaming.ts";
import { createSweep } from "./sweep.ts";

export const edgeFleet = defineFeature({
  name: "edge/fleet",
  exported,
  needs: { audit, edgeCommands, edgeGroups, edgeHosts, edgeRunStream, securityContexts },
  schemas: { FleetRunEvent, ...named },
  tenantTables: ["edge_run_targets", "edge_runs", "edge_run_requests", "edge_settings"],
  settings: {
    retentionDays: integer("SVC_EDGE_RUN_RETENTION_DAYS", {
      meaning: "how long fleet runs that ended are kept",
      unit: "days",
      min: 1,
      max: 3650,
      default: 90,
    }),
  },
  open(node, { audit, edgeCommands: commands, edgeGroups, edgeRunStream, securityContexts }) {
    const { sql, runtime, tenants, notices, streams: opened, now, info, warn } = node;
    const records = runRecords(sql);
    const metrics = fleetMetrics();
    const resolution = { hosts: hostTargets(sql), groups: edgeGroups };
    const settings = createSettings({ sql, audit, info, changed: (tenant) => sweep.follow(tenant) });
    const sweep = createSweep({
      ...{ runtime, records, commands, streams: edgeRunStream, settings, now, warn },
      statusOf: tenants.status,
      retentionDays: node.settings.retentionDays,
    });
    const shared = { runtime, records, resolution, commands, holdsOf: sweep.holds, skipping: metrics.skipped };
    const fleet = createFleet({ ...shared, settings, contexts: securityContexts });
    const composer = createComposer({ runtime, records, commands });
    const runs = runtime.of(fleetRun);
    const reading = createReading({ runtime, records, commands });
    return {
      service: { runs: fleet, reading, hostCalls: createHostCalls({ runtime, fleet, commands, resolution }) },
      routes: fleetRoutes({
        ...{ sql, fleet, settings, streams: opened, newId: () => runs.newId() },
        reading,
        write: runWriter({ runtime, streams: edgeRunStream, composer }),
      }),
      actors: [fleetRun],
      activities: () => fleetActivities(shared),
      projections: [fleetRunProjection({ info, ended: ({ status }) => metrics.ended(status) })],
      metrics: metrics.all,
      sweeps: [
        () => {
          // A suspension holds its runs up at once; the round does so where the notice was lost.
          const stop = notices.on("tenant", (tenant) => {
            if (tenant !== null)
              void sweep
                .follow(tenant)
                .catch((error: unknown) => warn("edge_fleet_hold", { tenant, error: String(error) }));
          });
          const stopRounds = sweep.start();
          return async () => {
            stop();
            await stopRounds();
          };
        },
      ],
      endWork: sweep.endTenant,
      erase: sweep.eraseTenant,
    };
  },
});
