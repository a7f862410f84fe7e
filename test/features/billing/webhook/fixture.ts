/** A node with a payment provider on this machine, whose events a test delivers itself, in any order. */
import { randomUUID } from "node:crypto";
import Stripe from "stripe";
import { type Answer, type NodeProcess, startNodeProcess } from "../../../harness/node/node-process.ts";
import { type PaymentService, startPaymentService } from "../../../harness/outside/payment-service/service.ts";
import { signature } from "../../../harness/outside/payment-service/webhooks.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";
import { until } from "../../../harness/until.ts";

export const [oldSecret, newSecret] = ["whsec_old", "whsec_new"];

/** An event as the provider writes it. */
export interface Told {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly data: { readonly object: object };
}

export class BillingFixture {
  private constructor(
    readonly stores: TestStores,
    readonly provider: PaymentService,
    readonly node: NodeProcess,
    readonly stripe: Stripe,
  ) {}

  static async open(env: Readonly<Record<string, string>> = {}): Promise<BillingFixture> {
    const [stores, provider] = await Promise.all([freshStores(), startPaymentService()]);
    const node = await startNodeProcess(stores, {
      env: {
        PAYMENT_SECRET_KEY: provider.secretKey,
        PAYMENT_API_BASE: provider.url,
        PAYMENT_WEBHOOK_SECRET: `${oldSecret}, ${newSecret}`,
        ...env,
      },
    });
    const { hostname, port } = new URL(provider.url);
    const stripe = new Stripe(provider.secretKey, { host: hostname, port, protocol: "http", telemetry: false });
    return new BillingFixture(stores, provider, node, stripe);
  }

  async close(): Promise<void> {
    await this.node.dispose();
    await this.provider.stop();
    await this.stores.dispose();
  }

  /** A price of a product that says what it is. */
  async price(tier: string, product: Stripe.ProductCreateParams = { name: tier }): Promise<string> {
    const { id } = await this.stripe.products.create(product);
    const price = await this.stripe.prices.create({
      product: id,
      currency: "eur",
      unit_amount: 1000,
      recurring: { interval: "month" },
      ...(tier === "" ? {} : { metadata: { tier, kind: "base" } }),
    });
    return price.id;
  }

  /** A consumer whose token claims nothing, and who is a customer. */
  async customer(): Promise<Customer> {
    const name = `u${randomUUID().slice(0, 8)}`;
    const token = await this.node.token({ username: name, sub: name, email: `${name}@billing.test` }, "svc-consumer");
    const headers = { Authorization: `Bearer ${token}` };
    const { body } = await this.node.call("GET", "/v1/billing/subscription", undefined, headers);
    const tenant: string = body.tenant_id;
    await this.node.call("POST", "/v1/volumes", { label: "any", size_limit_bytes: 1024 }, headers);
    const { id } = await this.stripe.customers.create({ metadata: { tenant_id: tenant } });
    await this.stores.sql`insert into billing_customers (tenant, customer_id) values (${tenant}, ${id})`;
    return new Customer(this, tenant, id, headers);
  }

  event(type: string, object: object, created = Math.floor(Date.now() / 1000)): Told {
    return { id: `evt_${randomUUID()}`, type, created, data: { object: structuredClone(object) } };
  }

  /** Delivers one as it is. */
  async deliver(event: Told, secret = newSecret): Promise<Answer> {
    const body = JSON.stringify(event);
    return this.post(body, { "Stripe-Signature": signature(body, [secret]) });
  }

  async post(body: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const response = await fetch(`${this.node.url}/v1/webhooks/stripe`, { method: "POST", body, headers });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /** Delivers one and waits until it was worked through. @returns what became of it */
  async told(event: Told): Promise<string> {
    const { status } = await this.deliver(event);
    if (status !== 200) throw new Error(`the event was refused with ${status}`);
    return this.settled(event.id);
  }

  async settled(id: string): Promise<string> {
    return until(async () => {
      const [row] = await this.stores.sql<{ state: string }[]>`
        select state from billing_events where event_id = ${id}`;
      return row !== undefined && row.state !== "received" ? row.state : null;
    });
  }

  /** Details of the incidents of a kind. */
  async incidents(category: string): Promise<Readonly<Record<string, unknown>>[]> {
    const rows = await this.stores.sql<{ tenant: string; details: Record<string, unknown> }[]>`
      select tenant, details from security_incidents where category = ${category}`;
    return rows.map(({ tenant, details }) => ({ tenant, ...details }));
  }
}

export class Customer {
  constructor(
    private readonly fixture: BillingFixture,
    readonly tenant: string,
    readonly id: string,
    readonly headers: Readonly<Record<string, string>>,
  ) {}

  call(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.fixture.node.call(method, path, body, { ...this.headers, ...headers });
  }

  /** Subscribes at the provider; the service is told nothing of it. */
  subscribe(price: string, metadata: Record<string, string> = {}): Promise<Stripe.Subscription> {
    return this.fixture.stripe.subscriptions.create({ customer: this.id, items: [{ price }], metadata });
  }

  /** What the service shows. */
  async shown() {
    return (await this.call("GET", "/v1/billing/subscription")).body;
  }

  /** Tier and agents of the quota, as they count for requests. */
  async inForce(): Promise<readonly [string, number]> {
    const { body } = await this.call("GET", "/v1/colony/subscription");
    return [body.tier, body.quota_usage.max_agents.limit];
  }
}
