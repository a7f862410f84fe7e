/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../../feature.ts";

export const exported: ExportedTables = {
  edge_hosts: {
    columns: [
      "id name tags created_by enrolled_at revoked_at agent_version held os arch tools labels status since",
      "last_heartbeat_at last_seen_at slots running not_accepting capabilities",
    ].join(" "),
    withheld: {
      "epoch owner_node link_since boot_id": "of the link that it has now",
    },
  },
  edge_host_keys: "keys of hosts",
};
