/** Nodes beside each other, the payment provider, and people who buy. */
import { type Answer, type NodeProcess, startNodeProcess } from "../../../harness/node/node-process.ts";
import { type PaymentService, startPaymentService } from "../../../harness/outside/payment-service/service.ts";
import { type Sold, sell } from "../../../harness/outside/payment-service/sold.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";
import { until } from "../../../harness/until.ts";

type Headers = Readonly<Record<string, string>>;

/** Each test has people of its own. */
let people = 0;

export class PurchaseFixture {
  private constructor(
    readonly stores: TestStores,
    readonly service: PaymentService,
    readonly sold: Sold,
    readonly nodes: readonly [NodeProcess, ...NodeProcess[]],
  ) {}

  static async open(others = 0): Promise<PurchaseFixture> {
    const [stores, service] = await Promise.all([freshStores(), startPaymentService()]);
    const sold = await sell(service, [
      "pro base month",
      "business base month",
      "business base year",
      "business seat month",
      "business seat year",
      "enterprise base month",
    ]);
    const env = {
      PAYMENT_SECRET_KEY: service.secretKey,
      PAYMENT_WEBHOOK_SECRET: "whsec_a",
      PAYMENT_API_BASE: service.url,
    };
    const first = await startNodeProcess(stores, { env });
    const further = await Promise.all(Array.from({ length: others }, () => startNodeProcess(stores, { env })));
    service.webhooks.sendTo({ url: `${first.url}/v1/webhooks/stripe`, secret: "whsec_a" });
    return new PurchaseFixture(stores, service, sold, [first, ...further]);
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.dispose()));
    await this.service.stop();
    await this.stores.dispose();
  }

  /** A consumer without a subscription. */
  async person(name: string): Promise<Buyer> {
    people += 1;
    const username = `${name}-${people}`;
    const fields = { username, email: `${username}@example.test`, sub: username, tier: "free" };
    const token = await this.nodes[0].token(fields, "svc-consumer");
    return new Buyer(this, username, { Authorization: `Bearer ${token}` });
  }

  /** The operator with role admin, in a tenant. */
  async operator(tenant: string): Promise<Headers> {
    const fields = { grant_type: "password", username: "admin", password: "dev", client_id: "", client_secret: "" };
    return { Authorization: `Bearer ${await this.nodes[0].token(fields, "svc-system")}`, "X-Svc-Tenant": tenant };
  }

  priceId(slot: string): string {
    const id = this.sold[slot];
    if (id === undefined) throw new Error(`${slot} is not sold`);
    return id;
  }
}

export class Buyer {
  constructor(
    private readonly fixture: PurchaseFixture,
    readonly name: string,
    readonly headers: Headers,
  ) {}

  call(method: string, path: string, body?: unknown, headers: Headers = {}, node = 0): Promise<Answer> {
    const at = this.fixture.nodes[node] ?? this.fixture.nodes[0];
    return at.call(method, `/v1/billing${path}`, body, { ...this.headers, ...headers });
  }

  async done(method: string, path: string, body?: unknown) {
    const answer = await this.call(method, path, body);
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async refused(method: string, path: string, body?: unknown): Promise<string> {
    const { status, body: answer } = await this.call(method, path, body);
    return `${status} ${answer?.code}`;
  }

  /** Buys a tier, and waits until the service knows. @returns the customer */
  async subscribe(slot: string, seats = 0): Promise<string> {
    const { service } = this.fixture;
    const { session_id } = await this.done("POST", "/checkout", { price_id: this.fixture.priceId(slot), seats });
    const { customer, id } = service.complete(session_id);
    await until(async () => (await this.done("GET", "/subscription")).stripe_subscription_id === id);
    return customer;
  }

  /** Of the customer at the provider, live or not. */
  subscriptionsOf(customer: string) {
    return [...this.fixture.service.account.subscriptions.values()].filter((row) => row.customer === customer);
  }
}
