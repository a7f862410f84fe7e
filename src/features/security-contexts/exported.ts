/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  security_contexts: {
    columns: "name description spec usable_by version made_by updated_by created_at updated_at",
  },
};
