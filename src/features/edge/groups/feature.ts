/** Groups of edge hosts. */
import { audit } from "../../audit/feature.ts";
import { defineFeature } from "../../feature.ts";
import { edgeHosts } from "../hosts/feature.ts";
import { exported } from "./exported.ts";
import { groupsByName } from "./port.ts";
import { groupRecords } from "./records.ts";
import { groupRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createGroups } from "./service.ts";

export const edgeGroups = defineFeature({
  name: "edge/groups",
  exported,
  needs: { audit, edgeHosts },
  schemas: named,
  tenantTables: ["edge_groups"],
  open({ sql, newId, info }, { audit }) {
    const records = groupRecords(sql);
    const groups = createGroups({ sql, records, audit, info });
    return {
      service: groupsByName(records),
      routes: groupRoutes({ sql, groups, newId }),
    };
  },
});
