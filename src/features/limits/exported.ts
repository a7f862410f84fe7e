/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  rate_overrides: {
    columns: "id realm user_id resource bucket limit_value burst_value created_by created_at updated_at",
    withheld: {
      owns: "whether the user owns the tenant",
    },
  },
  rate_limit_overrides: "of a former version, which the ones of today hold",
};
