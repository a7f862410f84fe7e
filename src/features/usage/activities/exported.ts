/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  usage_sums: {
    columns: [
      "hours start agent_id model workflow tool executions tool_calls input_tokens output_tokens cost",
      "sandbox_ms host_commands",
    ].join(" "),
  },
  usage_storage: {
    columns: "hour bytes",
  },
  usage_activities: "the sums have them",
};
