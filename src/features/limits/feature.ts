/** Rate limits of starts, held across all nodes. */
import { flag } from "../../config/setting.ts";
import { defineFeature } from "../feature.ts";
import { noLimiter, openLimiter } from "./limiter.ts";

export const limits = defineFeature({
  name: "limits",
  settings: {
    rateLimits: flag("SVC_RATE_LIMITS", {
      meaning: "hold tenants and people to their rates of workflow starts; off only where something in front does",
      default: true,
    }),
  },
  open({ settings, sql, redisServers, prefix, tenants, now, info }) {
    const { terms } = tenants;
    const limiter = settings.rateLimits
      ? openLimiter({ sql, redisServers, prefix, terms, now, report: info })
      : noLimiter;
    return { service: limiter, close: () => limiter.close() };
  },
});
