/** Storage violations: recorded without waiting, listed for the tenant, and to operators for all. */
import { integer } from "../../config/setting.ts";
import { audit } from "../audit/feature.ts";
import { defineFeature } from "../feature.ts";
import { exported } from "./exported.ts";
import { ViolationRecord } from "./records.ts";
import { violationRoutes } from "./routes.ts";
import { createStorageViolations } from "./service.ts";

export const storageViolations = defineFeature({
  name: "storage-violations",
  exported,
  needs: { audit },
  tenantTables: ["storage_violations"],
  schemas: { StorageViolation: ViolationRecord },
  settings: {
    storageViolationRetentionDays: integer("SVC_STORAGE_VIOLATION_RETENTION_DAYS", {
      meaning: "how long storage violations are kept",
      unit: "days",
      min: 1,
      max: 3650,
      default: 90,
    }),
  },
  open({ settings, sql, now, newId, warn }, { audit }) {
    const violations = createStorageViolations({
      sql,
      now,
      newId,
      retentionDays: settings.storageViolationRetentionDays,
      warn: (error) => warn("storage_violations", { error: String(error) }),
    });
    return {
      service: violations,
      routes: violationRoutes({ sql, audit, now }),
      queues: [{ name: "storage_violations", depth: violations.waiting }],
      close: violations.stop,
    };
  },
});
