/**
 * The payment provider on this machine: it speaks Stripe's wire, keeps customers, catalogue, subscriptions and invoices, and
 * delivers signed events. Its objects have the types of the provider's own library. What it does not imitate:
 * docs/reference/billing.md.
 */
import { Account } from "./account.ts";
import { catalogue } from "./objects/catalogue.ts";
import { checkouts } from "./objects/checkout.ts";
import { clocks, endAll } from "./objects/clocks.ts";
import { customers } from "./objects/customers.ts";
import { invoices, pay } from "./objects/invoices/endpoints.ts";
import { meters, portal } from "./objects/portal.ts";
import { schedules } from "./objects/schedules.ts";
import { subscriptions } from "./objects/subscriptions/endpoints.ts";
import type { Wanted } from "./objects/subscriptions/subscription.ts";
import type { Invoice, Subscription } from "./shapes.ts";
import { advance } from "./time.ts";
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
  /** What a person does on the page of a checkout session: pays. @throws ApiError where the card is declined */
  complete(session: string): Subscription;
  /** What a session sells. */
  linesOf(session: string): readonly Wanted[];
  /** What a person does on the page of an invoice: pays. @throws ApiError where the card is declined */
  payInvoice(invoice: string): Invoice;
  /** Whether the card of a customer is declined from now on. */
  declineCard(customer: string, isDeclined: boolean): void;
  /** The time of all customers without a test clock goes on, with everything that comes due. */
  advance(seconds: number): void;
  stop(): Promise<void>;
}

export async function startPaymentService(): Promise<PaymentService> {
  const secretKey = `sk_test_${crypto.randomUUID().replaceAll("-", "")}`;
  const account = new Account(apiVersion);
  const webhooks = new Webhooks();
  account.onEvent((event) => webhooks.tell(event));
  const sessions = checkouts(account);
  const endpoints = [
    ...catalogue(account),
    ...customers(account, (customer) => endAll(account, customer)),
    ...subscriptions(account),
    ...invoices(account),
    ...schedules(account),
    ...sessions.endpoints,
    ...portal(account),
    ...meters(account),
    ...clocks(account, sessions),
  ];
  const server = await serveWire({ secretKey, apiVersion, endpoints, find: (id) => account.find(id) });
  return {
    url: server.url,
    secretKey,
    account,
    webhooks,
    asked: server.asked,
    fail: (order) => server.faults.order(order),
    release: () => server.faults.release(),
    complete: (session) => sessions.complete(session),
    linesOf: (session) => sessions.linesOf(session),
    payInvoice: (invoice) => pay(account, invoice),
    declineCard(customer, isDeclined) {
      if (isDeclined) account.declining.add(customer);
      else account.declining.delete(customer);
    },
    advance(seconds) {
      const isFree = (customer: string) => account.customers.get(customer)?.test_clock == null;
      advance(account, sessions, account.now() + seconds, isFree, (at) => account.shift(at - account.now()));
    },
    async stop() {
      await server.stop();
      webhooks.sendTo(null);
      await webhooks.drained();
    },
  };
}
