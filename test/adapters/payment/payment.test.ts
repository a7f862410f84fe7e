/** docs/reference/billing.md: how the payment provider is called. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { apiBaseFault, openPayment, type Payment, PaymentFailure } from "../../../src/adapters/payment/port.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { type PaymentService, startPaymentService } from "../../harness/outside/payment-service/service.ts";

let service: PaymentService;
let payment: Payment;
const told: Record<string, unknown>[] = [];

const open = (secretKey: string, timeoutMs?: number) =>
  openPayment({
    secretKey: new Secret(secretKey),
    apiBase: service.url,
    warn: (_event, facts) => void told.push(facts),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });

beforeAll(async () => {
  service = await startPaymentService();
  payment = open(service.secretKey);
});
afterAll(() => service.stop());

const create = (key: string, tenant: string, on = payment) =>
  on.write("create a customer", key, (client, options) =>
    client.customers.create({ email: "a+b@example.test", metadata: { tenant_id: tenant } }, options),
  );

async function failureOf(promise: Promise<unknown>): Promise<PaymentFailure> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PaymentFailure)) throw new Error(`no failure but ${error}`);
  return error;
}

test("a change carries its key and the pinned version", async () => {
  const customer = await create("key-1", "t-1");
  const asked = service.asked.at(-1);
  expect(asked).toMatchObject({ method: "POST", path: "/v1/customers", idempotencyKey: "key-1" });
  expect(asked?.apiVersion).toBe("2026-10-28.endive");
  expect(customer).toMatchObject({ email: "a+b@example.test", metadata: { tenant_id: "t-1" } });
});

test("a change without a key never leaves the node", async () => {
  const before = service.asked.length;
  const failure = await failureOf(payment.read("x", (client, options) => client.customers.create({}, options)));
  expect(failure.kind).toBe("failed");
  expect(service.asked.length).toBe(before);
});

test("a lost reply has the effect once", async () => {
  service.fail({ method: "POST", times: 1, fault: { kind: "lost" } });
  const customer = await create("key-lost", "t-lost");
  const all = [...service.account.customers.values()].filter((row) => row.metadata.tenant_id === "t-lost");
  expect(all.map(({ id }) => id)).toEqual([customer.id]);
  expect(service.asked.filter((row) => row.idempotencyKey === "key-lost")).toHaveLength(2);
});

test("a connection that keeps breaking is a failure after one repetition", async () => {
  const end = service.fail({ fault: { kind: "broken" } });
  const before = service.asked.length;
  expect(await failureOf(create("key-broken", "t-broken"))).toMatchObject({ kind: "failed" });
  expect(service.asked.length - before).toBe(2);
  end();
});

test.each([
  ["an answer that is no JSON", { kind: "garbage" }, "failed"],
  ["an error of the provider", { kind: "error", status: 500 }, "failed"],
  ["an overloaded provider", { kind: "error", status: 429 }, "failed"],
  ["a declined card", { kind: "error", status: 402 }, "declined"],
  ["something unknown", { kind: "error", status: 404 }, "missing"],
  ["a request that it refuses", { kind: "error", status: 400 }, "refused"],
] as const)("%s", async (_what, fault, kind) => {
  const end = service.fail({ fault });
  const failure = await failureOf(payment.read("read", (client, options) => client.prices.list({}, options)));
  end();
  expect(failure.kind).toBe(kind);
  expect(failure.message).not.toContain("provider-internals");
});

test("a reply that does not come in time is a timeout", async () => {
  const end = service.fail({ times: 1, fault: { kind: "slow" } });
  const failure = await failureOf(create("key-slow", "t-slow", open(service.secretKey, 200)));
  end();
  service.release();
  expect(failure.kind).toBe("timeout");
  // The effect is there, and the same key finds it.
  const again = await create("key-slow", "t-slow");
  expect([...service.account.customers.values()].filter((row) => row.metadata.tenant_id === "t-slow")).toHaveLength(1);
  expect(again.metadata.tenant_id).toBe("t-slow");
});

test("a wrong key is a failure; the provider's words are in the log alone", async () => {
  const failure = await failureOf(
    open("sk_test_wrong").read("read", (client, options) => client.prices.list({}, options)),
  );
  expect(failure).toMatchObject({ kind: "failed" });
  expect(JSON.stringify(told.at(-1))).toContain("Invalid API Key");
  expect(JSON.stringify(told)).not.toContain("sk_test_wrong");
});

test("a list is read to its last page", async () => {
  for (let n = 0; n < 105; n += 1) await create(`key-page-${n}`, `t-page-${n}`);
  const rows = await payment.list("list", (client, page, options) => client.customers.list({ ...page }, options));
  expect(rows.length).toBe(service.account.customers.size);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
});

test.each([
  ["https://api.stripe.com", false, true],
  ["http://127.0.0.1:9", false, true],
  ["http://[::1]:9", false, true],
  ["http://pay.example.test", false, false],
  ["http://127.0.0.1.example.test", false, false],
  ["http://pay.example.test", true, true],
])("%s in development %p", (apiBase, isDevelopment, isAllowed) => {
  expect(apiBaseFault(apiBase, isDevelopment) === null).toBe(isAllowed);
});
