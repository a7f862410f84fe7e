/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  invitations: {
    columns: "id address role status realm user_id by_sign_in created_at expires_at ended_at",
    withheld: { token_hash: "what a link is recognised by", address_folded: "the address once more" },
  },
  saml_settings: { columns: "entity_id sso_url certificate provisioning updated_at" },
};
