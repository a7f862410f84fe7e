/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  workflow_waits: "what runs wait for now",
  stimulus_takers: "which runs a delivery went to, which their histories have",
};
