/** Tenants: made, changed and ended by platform operators, and erased once their time is over. */
import { audit } from "../audit/feature.ts";
import { defineFeature } from "../feature.ts";
import { startEnding } from "./ending.ts";
import { exported } from "./exported.ts";
import { tenantRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createTenantService } from "./service.ts";

export const tenants = defineFeature({
  name: "tenants",
  exported,
  schemas: named,
  needs: { audit },
  // Of the whole service, and of identity.
  tenantTables: ["idempotency_keys", "tenant_members"],
  open({ sql, tenants, keys, runtime, info, warn }, { audit }) {
    let begin = () => {};
    const listeners: ((tenant: string) => void)[] = [];
    const service = createTenantService({
      sql,
      tenants,
      audit,
      keys,
      deleted: () => begin(),
      activated(tenant) {
        for (const listener of listeners) listener(tenant);
      },
    });
    return {
      service: {
        end: service.end,
        /** Registers who is told when a suspension or a deletion has ended on this node; a hint. Must not throw. */
        whenActive: (listener: (tenant: string) => void): void => void listeners.push(listener),
      },
      routes: tenantRoutes(service),
      tenantWork(work) {
        const ending = startEnding({ sql, tenants, audit, runtime, work, report: info, failed: warn });
        begin = ending.begin;
        return ending.stop;
      },
    };
  },
});
