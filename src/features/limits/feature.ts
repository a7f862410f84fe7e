/** Rate limits of starts, model calls and tool calls, held across all nodes. */
import { flag } from "../../config/setting.ts";
import { defineFeature } from "../feature.ts";
import { noLimiter, openLimiter } from "./limiter.ts";
import { limitMetrics } from "./metrics.ts";
import { createStandings } from "./standings.ts";

export const limits = defineFeature({
  name: "limits",
  tenantTables: ["rate_limit_overrides"],
  settings: {
    rateLimits: flag("SVC_RATE_LIMITS", {
      meaning:
        "hold tenants and people to their rates of starts, model and tool calls; off only where something in front does",
      default: true,
    }),
  },
  open({ settings, sql, redisServers, prefix, tenants, notices, now, info }) {
    const standings = createStandings({ sql, terms: tenants.terms, notices, now });
    const metrics = limitMetrics();
    const limiter = settings.rateLimits
      ? openLimiter({ redisServers, prefix, standings, now, report: info, refused: metrics.refused })
      : noLimiter;
    return { service: limiter, metrics: metrics.metrics, close: () => limiter.close() };
  },
});
