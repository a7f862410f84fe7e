/** Intake: stimuli are accepted, stored, and brought to the run they start. */

import { Gauge } from "prom-client";
import { changes } from "../../changes/feature.ts";
import { changesOfStimuli } from "../../changes/port.ts";
import { defineFeature } from "../../feature.ts";
import { limits } from "../../limits/feature.ts";
import { runs } from "../../workflows/runs/feature.ts";
import { waits } from "../../workflows/waits/feature.ts";
import { classification } from "../classification/feature.ts";
import { sources } from "../sources/feature.ts";
import { exported } from "./exported.ts";
import { stimulusMetrics } from "./metrics.ts";
import { openStimuli } from "./open.ts";
import { intakeRoutes } from "./routes.ts";
import { named } from "./schema.ts";

export const intake = defineFeature({
  name: "stimuli/intake",
  exported,
  tenantTables: ["stimuli", "stimulus_keys"],
  schemas: named,
  needs: { changes, sources, waits, classification, runs, limits },
  open({ sql, tenants, drainMs, now, newId, info }, { changes, sources, waits, classification, runs, limits }) {
    const tell = changesOfStimuli(changes);
    const metrics = stimulusMetrics();
    const stimuli = openStimuli({
      sql,
      // Connections are cut after half of the time that a stopping node has.
      drainMs: drainMs / 4,
      sources,
      failed: sources.failed,
      tenants,
      runs,
      waits,
      limiter: limits,
      classifier: classification,
      metrics,
      report(event, facts) {
        info(event, facts);
        tell(event, facts);
      },
      now,
      newId,
    });
    const waiting = new Gauge({
      name: "svc_stimuli_waiting",
      help: "Stimuli that were accepted and are not routed, of all nodes",
      registers: [],
      async collect() {
        // A store that is away costs this series, not the whole page.
        const count = await stimuli.records.waiting().catch(() => null);
        if (count === null) this.remove();
        else this.set(count);
      },
    });
    return {
      service: { take: stimuli.intake },
      routes: intakeRoutes({ ...stimuli, rates: limits.tell("workflow_execution") }),
      jobs: [
        () => {
          stimuli.start();
          return async () => {
            // First: who waits for a classification here is told at once that others go on with it.
            await classification.leave();
            await stimuli.close();
          };
        },
      ],
      queues: stimuli.queues,
      metrics: [...metrics.all, waiting],
    };
  },
});
