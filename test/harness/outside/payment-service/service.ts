/**
 * The payment provider on this machine: it speaks Stripe's wire, keeps customers, catalogue, subscriptions and invoices, and
 * delivers signed events. Its objects have the types of the provider's own library.
 */
import { Account } from "./account.ts";
import { catalogue } from "./objects/catalogue.ts";
import { customers } from "./objects/customers.ts";
import { Webhooks } from "./webhooks.ts";
import type { Ordered } from "./wire/faults.ts";
import { type Asked, serveWire } from "./wire/server.ts";

const apiVersion = "2026-10-28.endive";

export interface PaymentService {
  readonly url: string;
  readonly secretKey: string;
  /** What it keeps. */
  readonly account: Account;
  readonly webhooks: Webhooks;
  /** Requests in the order in which they came. */
  readonly asked: readonly Asked[];
  /** Orders a failure. @returns ends it */
  fail(order: Ordered): () => void;
  /** Answers the requests that a fault keeps waiting. */
  release(): void;
  stop(): Promise<void>;
}

export async function startPaymentService(): Promise<PaymentService> {
  const secretKey = `sk_test_${crypto.randomUUID().replaceAll("-", "")}`;
  const account = new Account(apiVersion);
  const webhooks = new Webhooks();
  account.onEvent((event) => webhooks.tell(event));
  const endpoints = [...catalogue(account), ...customers(account, () => {})];
  const server = await serveWire({ secretKey, apiVersion, endpoints, find: (id) => account.find(id) });
  return {
    url: server.url,
    secretKey,
    account,
    webhooks,
    asked: server.asked,
    fail: (order) => server.faults.order(order),
    release: () => server.faults.release(),
    async stop() {
      await server.stop();
      webhooks.sendTo(null);
      await webhooks.drained();
    },
  };
}
