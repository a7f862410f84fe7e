/** Subscriptions as the payment provider has them. Every function throws PaymentFailure. */
import { LRUCache } from "lru-cache";
import type { Price, Product } from "../../../../actors/billing/catalogue.ts";
import { count, fields, list, readPrice, readProduct } from "../../../../actors/billing/read.ts";
import { isOver } from "../../../../actors/billing/standing.ts";
import {
  type Facts,
  factsOf,
  missingOf,
  readSubscription,
  type Seen,
} from "../../../../actors/billing/subscription.ts";
import { type Payment, PaymentFailure } from "../../../adapters/payment/port.ts";
import { expireOpenSessions } from "./sessions.ts";

export interface ProviderSubscriptions {
  /** What a subscription gives, with what has to be looked up for it. */
  factsOf(seen: Seen): Promise<Facts>;
  /** @throws PaymentFailure `missing` where there is no such subscription */
  read(id: string): Promise<Seen>;
  /** All of a customer, ended ones included. */
  listOf(customer: string): Promise<readonly Seen[]>;
  /** When the first of the payments failed that a subscription waits for, Unix seconds; null: not known. */
  firstFailure(id: string): Promise<number | null>;
  /** Ends what a customer has not paid yet. */
  expireSessions(customer: string): Promise<void>;
  /** Ends it now, without a further invoice. Ending one that is over is no failure. */
  cancel(id: string): Promise<void>;
}

export interface ProviderOptions {
  readonly payment: Payment;
  readonly brand: string;
}

/** Prices and products change rarely. */
const rememberedMs = 300_000;
const maxRemembered = 2_000;

export function providerSubscriptions({ payment, brand }: ProviderOptions): ProviderSubscriptions {
  const products = remembering<Product>((id) =>
    payment.read("products.retrieve", (client, options) => client.products.retrieve(id, {}, options)).then(readProduct),
  );
  const prices = remembering<Price>((id) =>
    payment.read("prices.retrieve", (client, options) => client.prices.retrieve(id, {}, options)).then(readPrice),
  );

  async function read(id: string): Promise<Seen> {
    const given = await payment.read("subscriptions.retrieve", (client, options) =>
      client.subscriptions.retrieve(id, { expand: ["schedule"] }, options),
    );
    return plausible(given, "subscriptions.retrieve");
  }

  return {
    read,

    async factsOf(given) {
      // An event names the schedule only.
      const seen = given.next === undefined ? { ...given, next: (await read(given.id)).next } : given;
      const known = { products: new Map<string, Product>(), prices: new Map<string, Price>() };
      for (const id of missingOf(seen, known).prices) keep(known.prices, id, await prices(id));
      for (const id of missingOf(seen, known).products) keep(known.products, id, await products(id));
      return factsOf(seen, known, brand);
    },

    async listOf(customer) {
      const all = await payment.list("subscriptions.list", (client, page, options) =>
        client.subscriptions.list({ customer, status: "all", expand: ["data.schedule"], ...page }, options),
      );
      return all.map((one) => plausible(one, "subscriptions.list"));
    },

    async firstFailure(id) {
      const open = await payment.read("invoices.list", (client, options) =>
        client.invoices.list({ subscription: id, status: "open", limit: 100 }, options),
      );
      const failed = list(open).flatMap((invoice) => {
        const { attempted, attempt_count, status_transitions, created } = fields(invoice);
        const isTried = attempted === true || (count(attempt_count) ?? 0) > 0;
        return isTried ? (count(fields(status_transitions).finalized_at) ?? count(created) ?? []) : [];
      });
      return failed.length === 0 ? null : Math.min(...failed);
    },

    async expireSessions(customer) {
      await expireOpenSessions(payment, customer);
    },

    async cancel(id) {
      try {
        // The provider repeats an error of its own under the same key for a day. An end needs no protection from a repetition.
        await payment.write("subscriptions.cancel", `svc-cancel-${id}-${crypto.randomUUID()}`, (client, options) =>
          client.subscriptions.cancel(id, { invoice_now: false, prorate: false }, options),
        );
      } catch (error) {
        // It may have ended by itself meanwhile.
        if (!(error instanceof PaymentFailure) || (error.kind !== "missing" && error.kind !== "refused")) throw error;
        if (error.kind === "refused" && !isOver(await read(id))) throw error;
      }
    },
  };
}

function keep<T>(known: Map<string, T>, id: string, found: T | null): void {
  if (found !== null) known.set(id, found);
}

function plausible(given: unknown, operation: string): Seen {
  const seen = readSubscription(given);
  if (seen === null) throw new PaymentFailure("failed", operation);
  return seen;
}

/** Looks something up and remembers it for a while. Null: it is not there any more. */
function remembering<T extends object>(look: (id: string) => Promise<T | null>): (id: string) => Promise<T | null> {
  const known = new LRUCache<string, { readonly found: T | null }>({ max: maxRemembered, ttl: rememberedMs });
  return async (id) => {
    const remembered = known.get(id);
    if (remembered !== undefined) return remembered.found;
    const found = await look(id).catch((error: unknown) => {
      if (error instanceof PaymentFailure && error.kind === "missing") return null;
      throw error;
    });
    known.set(id, { found });
    return found;
  };
}
