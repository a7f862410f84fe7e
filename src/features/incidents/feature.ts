/** Security incidents: recorded without waiting, listed for the tenant. */

import { integer } from "../../config/setting.ts";
import { audit } from "../audit/feature.ts";
import { defineFeature } from "../feature.ts";
import { storageViolations } from "../storage-violations/feature.ts";
import { violationOfCall } from "../storage-violations/port.ts";
import { exported } from "./exported.ts";
import { IncidentRecord } from "./records.ts";
import { incidentRoutes } from "./routes.ts";
import { createIncidents, type Incident } from "./service.ts";

export const incidents = defineFeature({
  name: "incidents",
  exported,
  needs: { audit, storageViolations },
  tenantTables: ["security_incidents"],
  schemas: { SecurityIncident: IncidentRecord },
  settings: {
    incidentRetentionDays: integer("SVC_INCIDENT_RETENTION_DAYS", {
      meaning: "how long security incidents are kept",
      unit: "days",
      min: 1,
      max: 3650,
      default: 90,
    }),
  },
  open({ settings, sql, now, newId, warn }, { audit, storageViolations }) {
    const incidents = createIncidents({
      sql,
      now,
      newId,
      retentionDays: settings.incidentRetentionDays,
      warn: (error) => warn("incidents", { error: String(error) }),
    });
    return {
      service: {
        ...incidents,
        /** A call that was refused for its path is a storage violation as well. */
        report(incident: Incident): void {
          incidents.report(incident);
          const violation = violationOfCall(incident);
          if (violation !== null) storageViolations.recordViolation(violation);
        },
      },
      routes: incidentRoutes({ sql, audit, now }),
      queues: [{ name: "incidents", depth: incidents.waiting }],
      close: incidents.stop,
    };
  },
});
