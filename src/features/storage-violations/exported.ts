/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  storage_violations: {
    columns: "id category volume_id execution_id path operation details count created_at last_seen_at",
  },
};
