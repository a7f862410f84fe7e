/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  security_incidents: {
    columns: [
      "id category severity agent_id execution_id session_id tool_name violation_type details count",
      "created_at last_seen_at",
    ].join(" "),
  },
};
