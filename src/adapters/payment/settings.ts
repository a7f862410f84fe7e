/** Where the payment provider is, and what svc is known by there. */
import { secret, text } from "../../config/setting.ts";

export const paymentSettings = {
  secretKey: secret("PAYMENT_SECRET_KEY", {
    meaning: "secret key of the account at the payment provider (Stripe); unset: billing answers 501",
  }),
  apiBase: text("PAYMENT_API_BASE", {
    meaning: "the payment provider's API; http only in development or on loopback",
    pattern: /^https?:\/\/[^\s/?#@]+$/,
    bounds: "an origin http(s)://host[:port]",
    default: "https://api.stripe.com",
  }),
};

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** What is wrong with the address of the provider on such a node; null when nothing is. */
export function apiBaseFault(apiBase: string, isDevelopment: boolean): string | null {
  if (!URL.canParse(apiBase)) return "PAYMENT_API_BASE must be an origin http(s)://host[:port]";
  const { protocol, hostname } = new URL(apiBase);
  if (protocol === "https:" || isDevelopment || loopback.test(hostname)) return null;
  return "PAYMENT_API_BASE must begin with https:// in production, other than on loopback";
}
