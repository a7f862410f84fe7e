/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  edge_run_streams: "how far streams of runs are filled",
  edge_run_event_ids: "numbers of events",
};
