/** docs/reference/billing.md: how old what is sold may be, and what is told of a provider that fails. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { openPayment, PaymentFailure } from "../../../../src/adapters/payment/port.ts";
import { createCatalogue } from "../../../../src/features/billing/catalogue/service.ts";
import { askingProvider } from "../../../../src/features/billing/problems.ts";
import { Secret } from "../../../../src/lib/secret.ts";
import { type PaymentService, startPaymentService } from "../../../harness/outside/payment-service/service.ts";
import { sell } from "../../../harness/outside/payment-service/sold.ts";
import { until } from "../../../harness/until.ts";

let service: PaymentService;
beforeAll(async () => {
  service = await startPaymentService();
  await sell(service, ["pro base month"]);
});
afterAll(() => service.stop());

const minute = 60_000;

test("what is sold is fresh for 5 minutes, usable for an hour, and then waited for", async () => {
  let now = 0;
  const secretKey = new Secret(service.secretKey);
  const payment = openPayment({ secretKey, apiBase: service.url, warn: () => {} });
  const catalogue = createCatalogue({ payment, brand: "", clock: () => now });
  const tiers = async () => (await catalogue.sold()).catalogue.map(({ tier }) => tier);
  const askedNow = () => service.asked.filter(({ path }) => path === "/v1/products").length;
  expect(await tiers()).toEqual(["pro"]);
  const before = askedNow();
  await sell(service, ["business base month"]);
  now = 5 * minute;
  expect([await tiers(), askedNow()]).toEqual([["pro"], before + 1]);
  const made = askedNow();
  now += 1;
  // Answered at once, and read again behind the answer.
  expect(await tiers()).toEqual(["pro"]);
  await until(async () => (await tiers()).length === 2);
  expect(askedNow()).toBe(made + 1);
  const end = service.fail({ fault: { kind: "error", status: 500 } });
  now += 59 * minute;
  for (let n = 0; n < 3; n += 1) expect(await tiers()).toEqual(["pro", "business"]);
  await until(() => askedNow() >= made + 2);
  now += 2 * minute;
  expect((await catalogue.sold().catch((error) => error)).name).toBe("PaymentFailure");
  end();
  expect(await tiers()).toEqual(["pro", "business"]);
});

test.each([
  ["timeout", "504 payment_provider_timeout"],
  ["failed", "502 payment_provider_error"],
  ["refused", "502 payment_provider_error"],
  ["missing", "502 payment_provider_error"],
] as const)("a provider's %s is %s", async (kind, expected) => {
  const problem = await askingProvider(() => Promise.reject(new PaymentFailure(kind, "x"))).catch((error) => error);
  expect(problem).toBeInstanceOf(Problem);
  expect(`${problem.status} ${problem.code}`).toBe(expected);
});

test("a refusal of ours stays what it is", async () => {
  const own = new Problem("no_subscription", "none");
  expect(await askingProvider(() => Promise.reject(own)).catch((error) => error)).toBe(own);
});
