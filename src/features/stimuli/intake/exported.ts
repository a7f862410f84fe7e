/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  stimuli: {
    columns: [
      "id source channel acknowledge status dead_letter content content_encoding content_type content_size",
      "content_sha256 headers headers_truncated idempotency_key duplicate_count source_id override run_id",
      "router_execution_id classification error_code error_message error_details replay_of replayed_by",
      "received_by_kind received_by_realm received_by_sub received_by_email received_by_tier received_at",
      "last_event_at discarded_at discarded_by discard_reason",
    ].join(" "),
    json: "headers",
    withheld: {
      "attempts due_at failures guard_digest": "how it is routed",
      starter: "what the sender was allowed, for the service's own checks",
    },
  },
  stimulus_keys: "idempotency keys of a day",
};
