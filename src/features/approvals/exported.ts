/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  approvals: {
    columns: [
      "approval_id status kind run_id root_run_id workflow_name created_at expires_at decided_at",
      "decided_sub decided_email document",
    ].join(" "),
    json: "document",
    withheld: {
      document_bytes: "a size",
    },
  },
  approval_links: "what links are recognised by",
};
