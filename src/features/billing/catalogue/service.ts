/**
 * What is sold, as the provider said at most five minutes ago. It is read again behind an answer; only a node that has
 * nothing of the last hour waits for the provider.
 */
import { type Catalogue, catalogueOf, type Price, type Product } from "../../../../actors/billing/catalogue.ts";
import { readPrice, readProduct } from "../../../../actors/billing/read.ts";
import type { Payment } from "../../../adapters/payment/port.ts";

export interface Sold {
  readonly catalogue: Catalogue;
  /** Active ones. */
  readonly products: ReadonlyMap<string, Product>;
  readonly prices: ReadonlyMap<string, Price>;
}

export interface CatalogueService {
  /** @throws PaymentFailure where nothing of the last hour is at hand and the provider does not answer */
  sold(): Promise<Sold>;
}

export interface CatalogueOptions {
  readonly payment: Payment;
  readonly brand: string;
  /** Milliseconds of a clock that never goes back. */
  readonly clock?: () => number;
}

const freshMs = 5 * 60_000;
const usableMs = 60 * 60_000;
/** After a failure the provider is left alone for so long, unless an answer depends on it. */
const pauseMs = 10_000;

export function createCatalogue({
  payment,
  brand,
  clock = () => performance.now(),
}: CatalogueOptions): CatalogueService {
  let held: { readonly sold: Sold; readonly at: number } | null = null;
  let reading: Promise<Sold> | null = null;
  let failedAt = Number.NEGATIVE_INFINITY;

  async function read(): Promise<Sold> {
    const [products, prices] = await Promise.all([
      payment.list("list products", (client, page, options) =>
        client.products.list({ ...page, active: true }, options),
      ),
      payment.list("list prices", (client, page, options) =>
        client.prices.list(
          { ...page, active: true, type: "recurring", recurring: { usage_type: "licensed" } },
          options,
        ),
      ),
    ]);
    const ours = products.flatMap((product) => readProduct(product) ?? []);
    const theirs = prices.flatMap((price) => readPrice(price) ?? []);
    return {
      catalogue: catalogueOf(ours, theirs, brand),
      products: new Map(ours.map((product) => [product.id, product])),
      prices: new Map(theirs.map((price) => [price.id, price])),
    };
  }

  /** One reading at a time. */
  function readAgain(): Promise<Sold> {
    const at = clock();
    reading ??= read()
      .then((sold) => {
        held = { sold, at };
        return sold;
      })
      .catch((error) => {
        failedAt = clock();
        throw error;
      })
      .finally(() => {
        reading = null;
      });
    return reading;
  }

  return {
    async sold() {
      const now = clock();
      if (held === null || now - held.at > usableMs) return readAgain();
      // The failure is in the log of the provider's client.
      if (now - held.at > freshMs && now - failedAt > pauseMs) void readAgain().catch(() => {});
      return held.sold;
    },
  };
}
