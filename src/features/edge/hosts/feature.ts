/** Edge hosts: machines whose daemons work for a tenant. */
import { edgeHost } from "../../../../actors/edge-host/host.ts";
import { audit } from "../../audit/feature.ts";
import { changes } from "../../changes/feature.ts";
import { defineFeature } from "../../feature.ts";
import { edgeCommands } from "../commands/feature.ts";
import { exported } from "./exported.ts";
import { hostFacts } from "./facts.ts";
import { hostRecords } from "./records.ts";
import { hostRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createHosts } from "./service.ts";

export const edgeHosts = defineFeature({
  name: "edge/hosts",
  exported,
  needs: { audit, changes, edgeCommands },
  schemas: named,
  tenantTables: ["edge_host_keys", "edge_hosts"],
  open({ sql, tenants, runtime, newId, info }, { audit, changes, edgeCommands }) {
    const actors = () => runtime.of(edgeHost);
    const records = hostRecords(sql);
    const hosts = createHosts({ sql, records, tenants, audit, newId, info, commands: edgeCommands, changes, actors });
    return {
      service: hosts,
      routes: hostRoutes(hosts),
      facts: [hostFacts],
      endWork: (tenant) => hosts.revokeAll(tenant),
    };
  },
});
