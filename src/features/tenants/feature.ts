/** Tenants: what ends with them. */
import { defineFeature } from "../feature.ts";

export const tenants = defineFeature({
  name: "tenants",
  // Of the whole service, and of identity.
  tenantTables: ["idempotency_keys", "tenant_members"],
  open: () => ({ service: null }),
});
