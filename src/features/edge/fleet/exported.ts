/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  edge_runs: {
    columns: "id tool status outcome created_at ended_at doc",
    json: "doc",
  },
  edge_run_targets: {
    columns: "run_id resolution idx node_id name kind reason",
  },
  edge_settings: {
    columns: "approve_all approve_above agent_runs self_approval dispatch_enabled updated_at",
  },
  edge_run_requests: "what runs were asked for, which the runs have",
};
