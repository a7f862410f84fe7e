/** What billing is configured by, beside the key of the account and the address of the payment provider. */
import { integer, origins, secret, text, url } from "../../config/setting.ts";

const schemes = ["https", "http"] as const;

export const billingSettings = {
  paymentWebhookSecret: secret("PAYMENT_WEBHOOK_SECRET", {
    meaning:
      "secrets that the payment provider's events are signed with, comma-separated; unset: its webhook answers 501",
  }),
  paymentSuccessUrl: url("PAYMENT_SUCCESS_URL", {
    meaning: "where a paid checkout leads to; the provider fills in {CHECKOUT_SESSION_ID}",
    schemes,
    defaultText: "{SVC_PUBLIC_URL}/billing/success?session_id={CHECKOUT_SESSION_ID}",
  }),
  paymentCancelUrl: url("PAYMENT_CANCEL_URL", {
    meaning: "where a checkout that is given up leads to",
    schemes,
    defaultText: "{SVC_PUBLIC_URL}/billing/cancel",
  }),
  paymentReturnUrl: url("PAYMENT_RETURN_URL", {
    meaning: "where the provider's portal leads back to",
    schemes,
    defaultText: "{SVC_PUBLIC_URL}/billing",
  }),
  paymentUrlOrigins: origins("PAYMENT_URL_ORIGINS", {
    meaning: "origins that callers may name as places to come back to; none: that of SVC_PUBLIC_URL",
  }),
  paymentBrand: text("PAYMENT_BRAND", {
    meaning: "what product names begin with that say a tier, such as Acme in Acme Pro; unset: names say nothing",
    pattern: /^(?:[^\s\p{C}](?:[^\p{C}]{0,98}[^\s\p{C}])?)?$/u,
    bounds: "1–100 characters",
    default: "",
  }),
  billingComparisonSeconds: integer("SVC_BILLING_COMPARISON_SECONDS", {
    meaning: "how often a node looks for customers whose subscriptions were not compared with the provider's for a day",
    unit: "s",
    min: 1,
    max: 3600,
    default: 60,
  }),
  billingEventDays: integer("SVC_BILLING_EVENT_RETENTION_DAYS", {
    meaning: "how long events of the payment provider are kept once they are worked through",
    unit: "days",
    min: 7,
    max: 3650,
    default: 90,
  }),
};
