/** Exports: all that is kept of a tenant, for its operators to hand over or to keep. */
import { audit } from "../audit/feature.ts";
import { defineFeature, type TenantExport } from "../feature.ts";
import { tenants } from "../tenants/feature.ts";
import { exportRoutes } from "./routes.ts";
import { createTenantExports } from "./service.ts";

export const tenantExport = defineFeature({
  name: "tenant-export",
  needs: { audit, tenants },
  open({ sql, dataDir, tenants, now }, { audit }) {
    let known: TenantExport | null = null;
    const exports = createTenantExports({
      sql,
      dataDir,
      parts() {
        if (known === null) throw new Error("Features are open before the first request comes");
        return known;
      },
      now,
    });
    return {
      service: null,
      routes: exportRoutes({ sql, audit, exports, tenants }),
      exportsKnown(all) {
        known = all;
      },
    };
  },
});
