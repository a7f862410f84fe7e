/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  executions: "told as records, with their iterations",
  execution_labels: "members of the records",
  agent_streams: "numbers of events",
  agent_stream_executions: "numbers of events",
  agent_stream_entries: "numbers of events",
};
