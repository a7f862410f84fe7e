/** Rate limits of starts, model calls and tool calls, held across all nodes. */
import { flag } from "../../config/setting.ts";
import { audit } from "../audit/feature.ts";
import { defineFeature } from "../feature.ts";
import { exported } from "./exported.ts";
import { noLimiter, openLimiter } from "./limiter.ts";
import { limitMetrics } from "./metrics.ts";
import { rateRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createRates } from "./service.ts";
import { createStandings } from "./standings.ts";
import { createBalances, tellRates } from "./usage.ts";

export const limits = defineFeature({
  name: "limits",
  exported,
  schemas: named,
  tenantTables: ["rate_limit_overrides", "rate_overrides"],
  needs: { audit },
  settings: {
    rateLimits: flag("SVC_RATE_LIMITS", {
      meaning:
        "hold tenants and people to their rates of starts, model and tool calls; off only where something in front does",
      default: true,
    }),
  },
  open({ settings, sql, redisServers, prefix, tenants, notices, realmOf, newId, now, info }, { audit }) {
    const standings = createStandings({ sql, terms: tenants.terms, notices, now });
    const metrics = limitMetrics();
    const limiter = settings.rateLimits
      ? openLimiter({ redisServers, prefix, standings, now, report: info, refused: metrics.refused })
      : noLimiter;
    const balances = createBalances({ standings, limiter });
    const rates = createRates({ sql, audit, standings, tenants, balances, realmOf, newId, now });
    return {
      service: { ...limiter, tell: tellRates({ standings, limiter, now }) },
      routes: rateRoutes({ rates, sql, newId }),
      metrics: metrics.metrics,
      close: () => limiter.close(),
    };
  },
});
