/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  edge_commands: {
    columns: [
      "id run_id idx attempt host_id tool status epoch created_at dispatched_at started_at ended_at",
      "duration_ms exit_code error_kind error_message reason stdout_tail stderr_tail stdout_bytes",
      "stderr_bytes truncated structured late",
    ].join(" "),
  },
  edge_run_args: {
    columns: "run_id tool args security_context requested_by created_at",
    json: "args",
    withheld: {
      trace: "of the request",
    },
  },
  edge_frames: "on their way to hosts",
};
