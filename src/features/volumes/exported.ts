/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  volumes: {
    columns: [
      "volume_id kind label owner_realm owner_user_id agent_id execution_id workflow visibility",
      "size_limit_bytes ttl_ms used_bytes file_count created_at updated_at deleted_at",
    ].join(" "),
    withheld: {
      "measured root_id indexed file_changes index_due_at backend": "where and how its files lie",
    },
  },
  volume_mounts: "which executions use them now",
  volume_stagings: "which instances use them now",
  volume_entries: "the files are there themselves",
  volume_files: "the files are there themselves",
  volume_changes: "changes under way",
  volume_copies: "copies on nodes",
  volume_detached: "files that go",
  volume_drafts: "uploads under way",
};
