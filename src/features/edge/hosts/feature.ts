/** Edge hosts: machines whose daemons work for a tenant. */
import { audit } from "../../audit/feature.ts";
import { defineFeature } from "../../feature.ts";
import { hostRecords } from "./records.ts";
import { hostRoutes } from "./routes.ts";
import { EdgeHost } from "./schema.ts";
import { createHosts } from "./service.ts";

export const edgeHosts = defineFeature({
  name: "edge/hosts",
  needs: { audit },
  schemas: { EdgeHost },
  tenantTables: ["edge_host_keys", "edge_hosts"],
  open({ sql, tenants, newId, info }, { audit }) {
    const hosts = createHosts({ sql, records: hostRecords(sql), tenants, audit, newId, info });
    return {
      service: hosts,
      routes: hostRoutes(hosts),
      async endWork(tenant) {
        await hosts.revokeAll(tenant);
        return true;
      },
    };
  },
});
