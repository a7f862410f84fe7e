/** Volumes: files that outlive an execution, and what executions mount. */
import { repeatedly } from "../../lib/timers.ts";
import { audit } from "../audit/feature.ts";
import { defineFeature } from "../feature.ts";
import { tools } from "../tools/feature.ts";
import { fsTools } from "../tools/fs/feature.ts";
import type { VolumesOptions } from "./execution-volumes.ts";
import { VolumeLayout } from "./layout.ts";
import { openVolumes } from "./open.ts";
import { openPlaces, storageProbe } from "./places/open.ts";
import { volumeRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { volumeSettings } from "./settings.ts";
import { heldByTenants, userVolumeRecords } from "./user-records.ts";

/** How often volumes are looked for whose index is to be made. */
const indexEveryMs = 5_000;

export const volumes = defineFeature({
  name: "volumes",
  tenantTables: ["volume_mounts", "volumes"],
  schemas: named,
  needs: { audit, tools, fsTools },
  settings: volumeSettings,
  async open({ settings, sql, dataDir, storageRoot, tenants, now, newId, warn }, { audit }) {
    const layout = new VolumeLayout(dataDir, storageRoot);
    const places = await openPlaces({ sql, layout, backend: settings.storageBackend });
    const holders: VolumesOptions["executions"][] = [];
    const volumes = openVolumes({
      sql,
      layout,
      places,
      executions: async (ids) => (await Promise.all(holders.map((known) => known(ids)))).flat(),
      now,
      newId,
    });
    return {
      service: {
        ...volumes,
        /** Bytes in all volumes of the tenant, as its quota counts them. */
        heldBytes: userVolumeRecords(sql).tenantBytes,
        /** Likewise, of tenants that have any. @param after the last one seen, by name; "" to begin */
        heldByTenants,
        /** Registers whose executions mount volumes. @param known of the given ones, those that exist, of any tenant */
        heldBy: (known: VolumesOptions["executions"]): void => void holders.push(known),
      },
      async erase(tenant) {
        await volumes.removeOfTenant(tenant);
        return true;
      },
      health: { storage: storageProbe(places, dataDir, layout) },
      sweeps: [
        () =>
          repeatedly(
            indexEveryMs,
            () => volumes.settleIndexes(),
            (error) => warn("volume_indexes_failed", { error: String(error) }),
          ),
      ],
      routes: volumeRoutes({ sql, volumes, audit, terms: tenants.terms, now, newId }),
    };
  },
});
