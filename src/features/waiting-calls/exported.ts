/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  waiting_calls: "calls that wait now; their records and approvals are there",
};
