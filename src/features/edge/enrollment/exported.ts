/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  edge_enrollment_tokens: {
    columns: "id name tags issued_by issued_at expires_at revoked_at redeemed_at host_id",
    withheld: {
      "digest redeemed_key": "what a token is recognised by, and a host's key",
    },
  },
};
