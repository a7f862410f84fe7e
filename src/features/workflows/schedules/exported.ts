/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  workflow_schedules: {
    columns: "schedule_id owner workflow_name workflow_id name place schedule paused ended created_at changed_at",
    withheld: {
      deployer: "what the deployer was allowed, for the service's own checks",
      "revision settled": "how far it is kept in step",
    },
  },
};
