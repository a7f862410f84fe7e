/** Volumes: files that outlive an execution, and what executions mount. */
import { audit } from "../audit/feature.ts";
import { defineFeature } from "../feature.ts";
import { storageViolations } from "../storage-violations/feature.ts";
import { tools } from "../tools/feature.ts";
import { fsTools } from "../tools/fs/feature.ts";
import type { VolumesOptions } from "./execution-volumes.ts";
import { openVolumes } from "./open.ts";
import { volumeRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { userVolumeRecords } from "./user-records.ts";

export const volumes = defineFeature({
  name: "volumes",
  tenantTables: ["volume_mounts", "volumes"],
  schemas: named,
  needs: { audit, storageViolations, tools, fsTools },
  open({ sql, dataDir, tenants, now, newId }, { audit, storageViolations: { recordViolation } }) {
    const holders: VolumesOptions["executions"][] = [];
    const volumes = openVolumes({
      sql,
      dataDir,
      executions: async (ids) => (await Promise.all(holders.map((known) => known(ids)))).flat(),
      now,
      newId,
      recordViolation,
      terms: tenants.terms,
    });
    return {
      service: {
        ...volumes,
        /** Bytes in all volumes of the tenant, as its quota counts them. */
        heldBytes: userVolumeRecords(sql).tenantBytes,
        /** Registers whose executions mount volumes. @param known of the given ones, those that exist, of any tenant */
        heldBy: (known: VolumesOptions["executions"]): void => void holders.push(known),
      },
      async erase(tenant) {
        await volumes.removeOfTenant(tenant);
        return true;
      },
      routes: volumeRoutes({ sql, volumes, audit, recordViolation, terms: tenants.terms, now, newId }),
    };
  },
});
