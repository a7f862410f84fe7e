/** What callers are told of the payment provider: that it failed, never what it wrote. */
import type { Refused, Unsold } from "../../../actors/billing/changes.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { PaymentFailure } from "../../adapters/payment/port.ts";

/** Codes of every route that asks the provider. */
export const providerCodes = ["payment_provider_error", "payment_provider_timeout"] as const;

/** Does what asks the provider. @throws Problem 504 where it does not answer in time, 502 where it fails otherwise */
export async function askingProvider<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PaymentFailure)) throw error;
    if (error.kind === "timeout") {
      throw new Problem("payment_provider_timeout", "The payment provider did not answer in time");
    }
    throw new Problem("payment_provider_error", "The payment provider failed");
  }
}

const reasons: Readonly<Record<Unsold, string>> = {
  unknown_price: "This is not sold",
  seat_price_mismatch: "The price of the seats is of another tier or interval",
  seats_not_available: "No further seats are sold for this tier and interval",
  tier_mismatch: "The price is of another tier",
};

/** @throws Problem 422 for what is not sold */
export function requireSold<T extends object>(decided: T | Refused): T {
  if ("refusal" in decided) throw new Problem(decided.refusal, reasons[decided.refusal]);
  return decided;
}
