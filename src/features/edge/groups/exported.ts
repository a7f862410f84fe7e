/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  edge_groups: {
    columns: "id name selector created_by created_at updated_at",
  },
  edge_group_pins: {
    columns: "group_id host_id",
    rows: "group_id in (select id from edge_groups where tenant = $1)",
  },
};
