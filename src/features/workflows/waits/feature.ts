/** Runs that wait for stimuli: they are found by what comes in, and look back for what came before. */
import { changes } from "../../changes/feature.ts";
import { changesOfStimuli } from "../../changes/port.ts";
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
  needs: { changes },
  open({ sql, runtime, now, info }, { changes }) {
    const records = waitRecords(sql);
    const tell = changesOfStimuli(changes);
    const report: typeof info = (event, facts) => {
      info(event, facts);
      tell(event, facts);
    };
    return {
      service: { tell: telling({ runtime, records, report: info }), takersOf: records.takersOf },
      activities: () => [watchActivity({ sql, records }), noteActivity({ sql, now, report })],
      facts: [takerFacts],
    };
  },
});
