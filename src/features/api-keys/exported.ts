/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  api_keys: {
    columns: [
      "id realm user_id kind client_id name scopes prefix last4 parent_id expires_at lifetime_seconds",
      "rotated_at revoked_at last_used_at created_at",
    ].join(" "),
    withheld: {
      "hash previous_hash previous_expires_at rotation_id": "what a key is recognised by",
    },
  },
};
