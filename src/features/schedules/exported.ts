/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  schedule_fires: "which times of schedules have started something",
};
