/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  secrets: {
    columns: "id path version encoding size_bytes written_by created_at updated_at deleted_at",
    withheld: {
      ciphertext: "the value",
    },
  },
};
