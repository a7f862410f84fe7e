/** Runs that wait for stimuli: they are found by what comes in, and look back for what came before. */
import { defineFeature } from "../../feature.ts";
import { exported } from "./exported.ts";
import { watchActivity } from "./looking-back.ts";
import { noteActivity } from "./noting.ts";
import { waitRecords } from "./records.ts";
import { takerFacts } from "./takers.ts";
import { telling } from "./telling.ts";

export const waits = defineFeature({
  name: "workflows/waits",
  exported,
  tenantTables: ["workflow_waits", "stimulus_takers"],
  needs: {},
  open({ sql, runtime, now, info }) {
    const records = waitRecords(sql);
    return {
      service: { tell: telling({ runtime, records, report: info }), takersOf: records.takersOf },
      activities: () => [watchActivity({ sql, records }), noteActivity({ sql, now, report: info })],
      facts: [takerFacts],
    };
  },
});
