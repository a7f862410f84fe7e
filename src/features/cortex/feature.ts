/** Cortex: what executions lost iterations by, and what helped later (docs/reference/cortex.md). */
import { flag, integer } from "../../config/setting.ts";
import { defineFeature } from "../feature.ts";
import { exported } from "./exported.ts";
import { lessonFacts } from "./facts.ts";
import { createCortexRecords } from "./records.ts";
import { cortexRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createCortexWork } from "./work.ts";

export const cortex = defineFeature({
  name: "cortex",
  exported,
  // Lessons first: one that is folded meanwhile is a pattern before patterns go.
  tenantTables: ["cortex_lessons", "cortex_losses", "cortex_patterns"],
  schemas: named,
  settings: {
    cortexEnabled: flag("SVC_CORTEX_ENABLED", {
      meaning: "errors of executions and what helped are recorded",
      default: true,
    }),
    cortexMaxPatterns: integer("SVC_CORTEX_MAX_PATTERNS", {
      meaning: "patterns of a tenant; those that were not met for the longest time go",
      unit: "patterns",
      min: 1,
      max: 10_000,
      default: 5_000,
    }),
    cortexRetentionDays: integer("SVC_CORTEX_RETENTION_DAYS", {
      meaning: "how long a pattern is kept that is not met again",
      unit: "days",
      min: 1,
      max: 3650,
      default: 365,
    }),
  },
  open({ settings, sql, now, newId, warn }) {
    const isEnabled = settings.cortexEnabled;
    const maxPatterns = settings.cortexMaxPatterns;
    const retentionDays = settings.cortexRetentionDays;
    const work = createCortexWork({ sql, newId, maxPatterns, retentionDays, now, warn });
    return {
      service: null,
      facts: [lessonFacts(isEnabled ? work.written : null)],
      routes: cortexRoutes({ records: createCortexRecords(sql), isEnabled, now }),
      sweeps: isEnabled ? [work.start] : [],
    };
  },
});
