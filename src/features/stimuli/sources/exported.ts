/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  stimulus_sources: {
    columns: [
      "id source workflow workflow_version enabled preset tolerance_seconds acknowledge",
      "idempotency_fallback forward_headers rate_per_minute description secret_version last_received_at",
      "revision created_at updated_at created_by replay_guard require_timestamp events match ignored_count",
      "last_ignored_at last_ignored_reason last_ignored_event",
    ].join(" "),
    withheld: {
      "secret previous_secret previous_expires_at": "the values",
      creator: "what the maker was allowed, for the service's own checks",
    },
  },
  stimulus_routers: {
    columns: [
      "router_agent router_agent_id confidence_threshold timeout_seconds allowed_workflows updated_at",
      "updated_by",
    ].join(" "),
  },
};
