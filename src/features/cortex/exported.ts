/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  cortex_patterns: {
    columns: [
      "id error_signature error_signature_hash error_type error_message solution solution_code frequency",
      "total_count success_count created_at last_used_at",
    ].join(" "),
  },
  cortex_lessons: "not folded into patterns yet",
  cortex_losses: "not folded into patterns yet",
};
