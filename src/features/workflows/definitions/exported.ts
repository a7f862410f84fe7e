/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  workflows: {
    columns: [
      "workflow_id name version description labels annotations tags metadata input_schema manifest_yaml",
      "manifest_sha256 revision created_at registered_at registered_by registered_realm",
    ].join(" "),
    withheld: {
      "definition version_order": "the manifest once more, as the service reads it",
      "deployer context_ceilings": "what the deployer was allowed, for the service's own checks",
    },
  },
  workflow_changes: {
    columns: "id at type workflow_id name version actor_kind actor_sub request_id details",
  },
};
