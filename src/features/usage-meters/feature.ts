/** Usage told to the meters of the payment provider (docs/reference/usage.md). */
import { readMeters } from "../../../actors/usage/meters.ts";
import { paymentSettings } from "../../adapters/payment/port.ts";
import { readText } from "../../config/setting.ts";
import { repeatedly } from "../../lib/timers.ts";
import { billing } from "../billing/feature.ts";
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import { usageUpkeep } from "../usage/upkeep/feature.ts";
import { exported } from "./exported.ts";
import { pushUsage } from "./pushing.ts";
import { pushRecords } from "./records.ts";

const everyMs = 60_000;

export const usageMeters = defineFeature({
  name: "usage-meters",
  exported,
  tenantTables: ["usage_pushes"],
  needs: { billing, incidents, usageUpkeep },
  settings: {
    paymentSecretKey: paymentSettings.secretKey,
    paymentMeters: readText("PAYMENT_METERS", {
      meaning: "usage that is told to the payment provider: a figure and the name of its meter's event each",
      unit: "JSON",
      bounds: "object",
      defaultText: "none",
      fault(text) {
        const read = readMeters(text);
        return typeof read === "string" ? read : null;
      },
    }),
  },
  contradictions: ({ paymentMeters, paymentSecretKey }) =>
    typeof paymentMeters === "string" && paymentSecretKey === null ? ["PAYMENT_METERS needs PAYMENT_SECRET_KEY"] : [],
  open({ settings, sql, warn }, { billing, incidents }) {
    const meters = readMeters(settings.paymentMeters ?? "{}");
    if (billing === null || typeof meters === "string" || Object.keys(meters).length === 0) return { service: null };
    const { payment } = billing;
    const pushes = pushRecords(sql);
    const failed = (error: unknown) => warn("usage_push_failed", { error: String(error) });
    const round = () => pushUsage({ pushes, meters, payment, incidents });
    return { service: null, sweeps: [() => repeatedly(everyMs, round, failed)] };
  },
});
