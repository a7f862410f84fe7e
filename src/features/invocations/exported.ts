/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  tool_invocations: {
    columns: [
      "id execution_id iteration_number agent_id session_id principal entry tool_name arguments",
      "arguments_sha256 edited_arguments decision code violation_type security_context context_version",
      "capability_index approval_id outcome count duration_ms result_bytes started_at ended_at request_id",
      "workflow_name",
    ].join(" "),
    withheld: {
      "node result_log result_seq": "where the result is kept",
      signature: "of the call",
    },
  },
  tool_results: {
    columns: "id ended_at result",
  },
};
