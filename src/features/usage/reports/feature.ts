/** What tenants have used, as they are shown it (docs/reference/usage.md). */
import { agents } from "../../agents/feature.ts";
import { defineFeature } from "../../feature.ts";
import { reportRecords } from "./records.ts";
import { usageRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createUsage } from "./service.ts";

export const usageReports = defineFeature({
  name: "usage/reports",
  schemas: named,
  needs: { agents },
  open: ({ sql, now }, { agents }) => ({
    service: null,
    routes: usageRoutes({ usage: createUsage({ reports: reportRecords(sql), agentNames: agents.names }), now }),
  }),
});
