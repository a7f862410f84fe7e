/** Billing: what tenants pay for at the payment provider, and what they have of it. */
import { apiBaseFault, openPayment, paymentSettings } from "../../adapters/payment/port.ts";
import { Secret } from "../../lib/secret.ts";
import { audit } from "../audit/feature.ts";
import { colony } from "../colony/feature.ts";
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import { exported } from "./exported.ts";
import { billingMetrics } from "./metrics.ts";
import { paymentProbe } from "./probe.ts";
import { openSelling, placesOf } from "./purchases/open.ts";
import { billingSweeps, eventWorker } from "./rounds.ts";
import { purchaseRoutes } from "./routes/routes.ts";
import { named as purchases } from "./routes/schema.ts";
import { named } from "./schema.ts";
import { billingSettings } from "./settings.ts";
import { createComparison } from "./subscriptions/comparison.ts";
import { providerSubscriptions } from "./subscriptions/provider.ts";
import { customerOf } from "./subscriptions/records.ts";
import { subscriptionRoutes } from "./subscriptions/routes.ts";
import { createSubscriptions, driftRecorded } from "./subscriptions/service.ts";
import { createSubscriptionView } from "./subscriptions/view.ts";
import { intakeRoute } from "./webhook/intake.ts";
import { createProcessing } from "./webhook/processing.ts";

export const billing = defineFeature({
  name: "billing",
  exported,
  needs: { audit, colony, incidents },
  schemas: { ...named, ...purchases },
  settings: {
    paymentSecretKey: paymentSettings.secretKey,
    paymentApiBase: paymentSettings.apiBase,
    ...billingSettings,
  },
  contradictions: ({ paymentApiBase }, { production }) => {
    const fault = paymentApiBase === undefined ? null : apiBaseFault(paymentApiBase, !production);
    return fault === null ? [] : [fault];
  },
  tenantTables: ["billing_events", "billing_subscriptions", "billing_customers", "billing_turns"],
  open({ settings, sql, tenants, publicUrl, now, databaseNow, newId, warn }, { audit, colony, incidents }) {
    const metrics = billingMetrics();
    const view = createSubscriptionView({ sql, tenants, now });
    const { paymentSecretKey: secretKey, paymentApiBase: apiBase } = settings;
    const shared = { metrics: metrics.all };
    const read = subscriptionRoutes({ tenants, view, isConfigured: secretKey !== null });
    const buying = { sql, tenants, audit, shown: view.of, newId };
    const intake = { sql, now, warn, counted: metrics.counted };
    if (secretKey === null) {
      const routes = [
        ...read,
        ...purchaseRoutes({ ...buying, selling: null }),
        intakeRoute({ ...intake, secrets: [], stored: () => {} }),
      ];
      return { ...shared, service: null, routes, health: { payment: null } };
    }
    const payment = openPayment({ secretKey, apiBase, warn });
    const drift = driftRecorded(incidents);
    const provider = providerSubscriptions({ payment, brand: settings.paymentBrand });
    const subscriptions = createSubscriptions({ sql, tenants, provider, drift, now });
    const comparison = createComparison({ sql, provider, subscriptions, drift, warn, now });
    const selling = openSelling({
      sql,
      payment,
      brand: settings.paymentBrand,
      places: placesOf(publicUrl, settings),
      view,
      subscriptions,
      comparison,
      people: colony.peopleOf,
      databaseNow,
      newId,
    });
    const worker = eventWorker(
      createProcessing({ sql, provider, subscriptions, incidents, drift, counted: metrics.counted, warn }),
      warn,
    );
    const secrets = secretsIn(settings.paymentWebhookSecret);
    return {
      ...shared,
      service: {
        payment,
        /** A tenant's customer at the provider; null: it is none. */
        customerOf: (tenant: string) => customerOf(sql, tenant),
      },
      routes: [
        ...read,
        ...purchaseRoutes({ ...buying, selling }),
        intakeRoute({ ...intake, secrets, stored: worker.wake }),
      ],
      jobs: [worker.begin],
      sweeps: billingSweeps({
        sql,
        subscriptions,
        comparison,
        comparisonSeconds: settings.billingComparisonSeconds,
        eventDays: settings.billingEventDays,
        warn,
      }),
      endWork: comparison.end,
      erase: comparison.end,
      health: { payment: paymentProbe(apiBase, now) },
    };
  },
});

/** The webhook's secrets: several while one takes the place of another. */
function secretsIn(setting: Secret | null): readonly Secret[] {
  const texts = (setting?.reveal() ?? "").split(",").map((text) => text.trim());
  return texts.filter((text) => text !== "").map((text) => new Secret(text));
}
