/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  tool_servers: {
    columns: [
      "id name source definition version defined_by protocol_version tools accepted accepted_tools listed_at",
      "created_at updated_at",
    ].join(" "),
    withheld: {
      "generation digests": "how its tools are compared",
    },
  },
  tool_server_instances: "where it runs now",
  tool_server_logs: "output of its processes",
};
