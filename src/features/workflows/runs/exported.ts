/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  workflow_runs: "told as records, with their histories",
  workflow_items: {
    columns: "run_id state_name visit attempt item status attempts result error execution_id",
    json: "result error",
  },
  workflow_maps: "how far maps are",
  workflow_batches: "branches that are started",
};
