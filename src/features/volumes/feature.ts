/** Volumes: files that outlive an execution, and what executions mount. */
import { repeatedly } from "../../lib/timers.ts";
import { audit } from "../audit/feature.ts";
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import { storageViolations } from "../storage-violations/feature.ts";
import { tools } from "../tools/feature.ts";
import { fsTools } from "../tools/fs/feature.ts";
import { exported } from "./exported.ts";
import { exportedFiles } from "./exported-files.ts";
import { FileEntry } from "./files/files.ts";
import { VolumeLayout } from "./layout.ts";
import { openVolumes } from "./open.ts";
import { openPlaces, storageProbe } from "./places/open.ts";
import { quotaFit } from "./places/quota-fit.ts";
import { volumeRoutes } from "./routes.ts";
import type { VolumesOptions } from "./runs/execution-volumes.ts";
import { named } from "./schema.ts";
import { volumeContradictions, volumeSettings } from "./settings.ts";
import { heldByTenants, userVolumeRecords } from "./user-records.ts";

/** How often volumes are looked for whose index is to be made. */
const indexEveryMs = 5_000;

export const volumes = defineFeature({
  name: "volumes",
  exported,
  tenantTables: ["volume_stagings", "volume_mounts", "volumes"],
  schemas: { ...named, FileEntry },
  needs: { audit, incidents, storageViolations, tools, fsTools },
  settings: volumeSettings,
  contradictions: volumeContradictions,
  async open(node, { audit, incidents, storageViolations: { recordViolation } }) {
    const { settings, sql, dataDir, storageRoot, host, tenants, now, newId, warn } = node;
    const layout = new VolumeLayout(dataDir, storageRoot);
    const backend = settings.storageBackend;
    const users = userVolumeRecords(sql, backend);
    const { places, sweep } = await openPlaces({
      ...{ sql, layout, settings, host, warn },
      fits: quotaFit(users, tenants.terms),
      lost: ({ tenant, volume_id, execution_id }, reason) => {
        warn("volume_write_lost", { tenant, volume_id, execution_id, reason });
        incidents.report({
          category: "volume_write_lost",
          tenant,
          agentId: null,
          executionId: execution_id,
          sessionId: null,
          toolName: null,
          violationType: null,
          details: { volume_id, reason },
        });
      },
    });
    const holders: VolumesOptions["executions"][] = [];
    const volumes = openVolumes({
      sql,
      layout,
      places,
      backend,
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
        heldBytes: users.tenantBytes,
        /** Likewise, of tenants that have any. @param after the last one seen, by name; "" to begin */
        heldByTenants,
        /** Registers whose executions mount volumes. @param known of the given ones, those that exist, of any tenant */
        heldBy: (known: VolumesOptions["executions"]): void => void holders.push(known),
      },
      exportedFiles: exportedFiles(sql, places),
      async erase(tenant) {
        return volumes.removeOfTenant(tenant);
      },
      health: { storage: storageProbe(places, dataDir, [dataDir, layout.volumes]) },
      sweeps: [
        () =>
          repeatedly(
            indexEveryMs,
            () => volumes.settleIndexes(),
            (error) => warn("volume_indexes_failed", { error: String(error) }),
          ),
        () => sweep(volumes.running),
      ],
      routes: volumeRoutes({ sql, backend, volumes, audit, recordViolation, terms: tenants.terms, now, newId }),
    };
  },
});
