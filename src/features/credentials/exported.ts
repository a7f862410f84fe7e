/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  credentials: {
    columns: [
      "id provider credential_type label scope status realm user_id metadata oauth_scopes version",
      "expires_at token_expires_at created_at updated_at last_used_at",
    ].join(" "),
    withheld: {
      ciphertext: "the value",
      "refresh_due_at refresh_by refresh_until refresh_failures": "when its token is renewed",
    },
  },
  credential_grants: {
    columns: "id credential_id target_type target_value created_by created_at confirmed_at expires_at ended_at",
  },
  oauth_attempts: "consents under way, with secrets of theirs",
};
