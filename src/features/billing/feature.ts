/** Billing: what tenants pay for at the payment provider, and what they have of it. */
import { defineFeature } from "../feature.ts";
import { billingSettings } from "./settings.ts";

export const billing = defineFeature({
  name: "billing",
  settings: billingSettings,
  tenantTables: ["billing_events", "billing_subscriptions", "billing_customers"],
  open: () => ({ service: null }),
});
