/** The way that every call of a tool goes: what policy says of it, who is asked, how it runs, what is put on record. */
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import { invocations } from "../invocations/feature.ts";
import { limits } from "../limits/feature.ts";
import { securityContexts } from "../security-contexts/feature.ts";
import { tools } from "../tools/feature.ts";
import { createPipeline } from "./service.ts";

export const pipeline = defineFeature({
  name: "pipeline",
  needs: { tools, limits, securityContexts, incidents, invocations },
  open({ now, warn }, { tools: registry, limits: limiter, securityContexts: contexts, incidents, invocations }) {
    const { counters } = contexts;
    return {
      service: createPipeline({ registry, contexts, counters, limiter, incidents, invocations, now, warn }),
    };
  },
});
