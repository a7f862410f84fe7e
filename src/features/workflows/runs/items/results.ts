/** The activity `workflow.map_results`: puts together what the items of a Map came to. */
import { mapResults } from "../../../../../actors/workflow/run/activities/map-results.ts";
import { type Activity, implement } from "../../../../runtime/port.ts";
import type { ItemRecords } from "./records.ts";

export const mapResultsActivity = (records: Pick<ItemRecords, "results">): Activity =>
  implement(
    mapResults,
    {
      // Each may bring some MiB into memory.
      concurrency: 4,
      retry: { attempts: 5, firstDelayMs: 500 },
    },
    (work, { actor }) => records.results(actor.tenant, work),
  );
