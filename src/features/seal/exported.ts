/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  seal_sessions: {
    columns: [
      "id execution_id agent_id detached principal security_context iteration_number opener status",
      "revoked_reason calls created_at last_used_at expires_at revoked_at",
    ].join(" "),
    withheld: {
      "public_key token allowed_tool_patterns container_id workload_id instance_id":
        "what the session is recognised by",
      "attempts_left attempts_at": "how often it may try now",
    },
  },
  tool_call_attempts: "how often callers may try now",
};
