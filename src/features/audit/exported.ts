/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  audit_entries: {
    columns: "id at actor action target_type target_id outcome ip user_agent request_id details sequence",
    withheld: {
      chain: "the chain is verified where the log is",
    },
  },
  audit_chains: "heads of the chains of the log",
};
