/** The history of stimuli: listed, looked at, replayed, erased by age. */

import { integer } from "../../../config/setting.ts";
import { audit } from "../../audit/feature.ts";
import { changes } from "../../changes/feature.ts";
import { changesOfStimuli } from "../../changes/port.ts";
import { defineFeature } from "../../feature.ts";
import { limits } from "../../limits/feature.ts";
import { intake } from "../intake/feature.ts";
import { sources } from "../sources/feature.ts";
import { createHistory } from "./history.ts";
import { countReceived, historyRecords } from "./records.ts";
import { createReplays } from "./replay.ts";
import { startStimulusRetention } from "./retention.ts";
import { historyRoutes } from "./routes.ts";
import { named } from "./schema.ts";

export const history = defineFeature({
  name: "stimuli/history",
  schemas: named,
  needs: { changes, intake, sources, audit, limits },
  settings: {
    stimulusRetentionDays: integer("SVC_STIMULUS_RETENTION_DAYS", {
      meaning: "how long stimuli that have ended are kept",
      unit: "days",
      min: 1,
      max: 400,
      default: 30,
    }),
  },
  open({ settings, sql, now, newId, info }, { changes, intake, sources, audit, limits }) {
    const tell = changesOfStimuli(changes);
    const records = historyRecords(sql);
    const report: typeof info = (event, facts) => {
      info(event, facts);
      tell(event, facts);
    };
    const history = createHistory({ sql, records, audit, report, now });
    const replays = createReplays({
      ...{ sql, records, audit, sources, intake: intake.take, report: info, now },
      async concluded(tenant, id) {
        const original = await records.find(tenant, id);
        if (original !== null) changes.changed(tenant, { type: "stimulus", id, status: original.status });
      },
    });
    const retentionDays = settings.stimulusRetentionDays;
    return {
      service: { countReceived },
      routes: historyRoutes({ history, replays, sql, newId, rates: limits.tell("workflow_execution") }),
      sweeps: [() => startStimulusRetention({ sql, retentionDays, now, report: info })],
    };
  },
});
