/** A catalogue at the payment provider, made by the official client. */
import { openPayment } from "../../../../src/adapters/payment/port.ts";
import { Secret } from "../../../../src/lib/secret.ts";
import type { PaymentService } from "./service.ts";

/** Ids of prices by tier, kind and interval: `pro base month`. */
export type Sold = Readonly<Record<string, string>>;

const amounts: Readonly<Record<string, number>> = { pro: 2_000, business: 10_000, enterprise: 50_000 };
const seatAmount = 1_500;
/** Of a year, in months. */
const yearMonths = 10;

/**
 * @param slots what is sold, as `pro base month`
 * @returns the prices that were made
 */
export async function sell(service: PaymentService, slots: readonly string[]): Promise<Sold> {
  const payment = openPayment({ secretKey: new Secret(service.secretKey), apiBase: service.url, warn: () => {} });
  const products = new Map<string, string>();
  const prices: Record<string, string> = {};
  for (const slot of slots) {
    const [tier = "", kind = "", interval = ""] = slot.split(" ");
    const name = `${tier} ${kind}`;
    const product =
      products.get(name) ??
      (
        await payment.write(name, `product.${name}`, (client, options) =>
          client.products.create({ name: `Acme ${name}`, metadata: { tier, kind } }, options),
        )
      ).id;
    products.set(name, product);
    const monthly = kind === "seat" ? seatAmount : (amounts[tier] ?? 0);
    const price = await payment.write(slot, `price.${slot}`, (client, options) =>
      client.prices.create(
        {
          product,
          currency: "usd",
          unit_amount: interval === "year" ? monthly * yearMonths : monthly,
          recurring: { interval: interval === "year" ? "year" : "month" },
        },
        options,
      ),
    );
    prices[slot] = price.id;
  }
  return prices;
}
