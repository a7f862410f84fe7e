/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  agents: {
    columns: [
      "agent_id name scope origin_tenant status current_version_id previous_version_id created_at",
      "updated_at deleted_at",
    ].join(" "),
  },
  agent_versions: {
    columns: [
      "version_id agent_id version revision agent_type labels metadata input_schema manifest_yaml",
      "deployed_at deployed_by deployed_realm",
    ].join(" "),
    withheld: {
      "document spec": "the manifest once more, as the service reads it",
      "deployer context_ceilings": "what the deployer was allowed, for the service's own checks",
    },
  },
  agent_events: {
    columns: "agent_id sequence type body occurred_at",
  },
  agent_event_heads: "numbers of events",
};
