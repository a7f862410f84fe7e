/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  swarms: {
    columns: "swarm_id status created_at dissolved_at member_ids",
  },
  swarm_messages: {
    columns: "id swarm_id position sender receiver payload sent_at received_at received_by",
    withheld: {
      payload_bytes: "a size",
    },
  },
  swarm_locks: "held while a swarm works",
};
