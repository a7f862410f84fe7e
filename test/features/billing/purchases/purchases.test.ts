/** docs/reference/billing.md: what a tenant buys, and that it buys it once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../harness/until.ts";
import { type Buyer, PurchaseFixture } from "./fixture.ts";

let fixture: PurchaseFixture;
beforeAll(async () => {
  fixture = await PurchaseFixture.open(1);
});
afterAll(() => fixture?.close());

const customersOf = (tenant: string) =>
  [...fixture.service.account.customers.values()].filter(({ metadata }) => metadata.tenant_id === tenant);
const invoicesOf = (customer: string) =>
  [...fixture.service.account.invoices.values()].filter((row) => row.customer === customer);
const openSessions = (customer: string) =>
  [...fixture.service.account.checkouts.values()].filter((row) => row.customer === customer && row.status === "open");
const tenantOf = async (person: Buyer): Promise<string> => (await person.done("GET", "/subscription")).tenant_id;

test("prices come in order of tiers, with null for what is not sold", async () => {
  const ann = await fixture.person("ann");
  const { tiers } = await ann.done("GET", "/prices");
  expect(tiers.map(({ tier, included_seats }: Record<string, unknown>) => [tier, included_seats])).toEqual([
    ["pro", 0],
    ["business", 5],
    ["enterprise", 10],
  ]);
  expect(tiers[0]).toMatchObject({
    description: "",
    monthly: { price_id: fixture.priceId("pro base month"), amount: 2000, currency: "usd" },
    annual: null,
    seat_monthly: null,
    seat_annual: null,
  });
  expect(tiers[1].seat_annual).toEqual({
    price_id: fixture.priceId("business seat year"),
    amount: 15000,
    currency: "usd",
  });
});

test("prices are read behind an answer, and go on while the provider fails", async () => {
  const ann = await fixture.person("ann");
  await ann.done("GET", "/prices");
  const end = fixture.service.fail({ fault: { kind: "error", status: 500 } });
  const before = fixture.service.asked.length;
  for (let n = 0; n < 5; n += 1) await ann.done("GET", "/prices");
  end();
  expect(fixture.service.asked.length).toBe(before);
});

test("a checkout sells the base price once and the seats", async () => {
  const ann = await fixture.person("ann");
  const wish = { price_id: fixture.priceId("business base month"), seats: 3, success_url: null };
  const { url, session_id, expires_at } = await ann.done("POST", "/checkout", wish);
  expect(url).toContain(session_id);
  expect(new Date(expires_at).getTime()).toBeGreaterThan(Date.now());
  expect(fixture.service.linesOf(session_id).map(({ price, quantity }) => [price.id, quantity])).toEqual([
    [fixture.priceId("business base month"), 1],
    [fixture.priceId("business seat month"), 3],
  ]);
  const tenant = await tenantOf(ann);
  expect(fixture.service.account.checkouts.get(session_id)).toMatchObject({
    allow_promotion_codes: true,
    client_reference_id: tenant,
    metadata: { tenant_id: tenant, user_sub: ann.name },
    success_url: "http://svc.test/billing/success?session_id={CHECKOUT_SESSION_ID}",
  });
  expect(customersOf(tenant)).toMatchObject([{ email: `${ann.name}@example.test`, metadata: { user_sub: ann.name } }]);
});

test("what is not sold, or leads elsewhere, is refused", async () => {
  const ann = await fixture.person("ann");
  const [business, pro] = [fixture.priceId("business base month"), fixture.priceId("pro base month")];
  const seat = fixture.priceId("business seat year");
  const refusals: [object, string][] = [
    [{ price_id: "price_unknown" }, "422 unknown_price"],
    [{ price_id: seat }, "422 unknown_price"],
    [{ price_id: business, tier: "enterprise" }, "422 tier_mismatch"],
    [{ price_id: business, seat_price_id: seat, seats: 1 }, "422 seat_price_mismatch"],
    [{ price_id: pro, seats: 1 }, "422 seats_not_available"],
    [{ price_id: business, success_url: "https://elsewhere.test/" }, "422 url_not_allowed"],
    [{ price_id: business, cancel_url: "javascript:alert(1)" }, "422 url_not_allowed"],
    [{ price_id: business, seats: 1001 }, "422 validation_failed"],
    [{}, "422 validation_failed"],
  ];
  for (const [wish, refusal] of refusals)
    expect([wish, await ann.refused("POST", "/checkout", wish)]).toEqual([wish, refusal]);
  expect(await ann.refused("POST", "/portal", { return_url: "https://elsewhere.test/" })).toBe("422 url_not_allowed");
  const own = "http://svc.test/back?from=x";
  const { session_id } = await ann.done("POST", "/checkout", { price_id: business, cancel_url: own, tier: "business" });
  expect(fixture.service.account.checkouts.get(session_id)?.cancel_url).toBe(own);
  expect(customersOf(await tenantOf(ann))).toHaveLength(1);
});

test("a second checkout expires the first, and a subscription ends them", async () => {
  const ann = await fixture.person("ann");
  const wish = { price_id: fixture.priceId("pro base month") };
  const first = await ann.done("POST", "/checkout", wish);
  const customer = await ann.subscribe("pro base month");
  expect(fixture.service.account.checkouts.get(first.session_id)?.status).toBe("expired");
  expect(openSessions(customer)).toEqual([]);
  expect(await ann.refused("POST", "/checkout", wish)).toBe("409 subscription_exists");
});

test("checkouts on two nodes at once leave one customer and one open session", async () => {
  const ann = await fixture.person("ann");
  const wish = { price_id: fixture.priceId("pro base month") };
  const answers = await Promise.all([0, 1, 0, 1].map((node) => ann.call("POST", "/checkout", wish, {}, node)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const [customer, ...others] = customersOf(await tenantOf(ann));
  expect(others).toEqual([]);
  expect(openSessions(customer?.id ?? "")).toHaveLength(1);
});

test.each(["customers", "checkout/sessions"])("replies lost at %s double nothing", async (path) => {
  const ann = await fixture.person("ann");
  const end = fixture.service.fail({ method: "POST", path: new RegExp(`/v1/${path}$`), fault: { kind: "lost" } });
  const wish = { price_id: fixture.priceId("pro base month") };
  const key = { "Idempotency-Key": `lost ${path}`.replaceAll(" ", "-") };
  const lost = await ann.call("POST", "/checkout", wish, key);
  expect([lost.status, lost.body.code]).toEqual([502, "payment_provider_error"]);
  end();
  for (const headers of [key, {}]) expect((await ann.call("POST", "/checkout", wish, headers, 1)).status).toBe(200);
  const [customer, ...others] = customersOf(await tenantOf(ann));
  expect(others).toEqual([]);
  expect(openSessions(customer?.id ?? "")).toHaveLength(1);
});

test("the portal opens without a body, with an empty form, and makes the customer", async () => {
  const ann = await fixture.person("ann");
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  const answers = [
    await ann.call("POST", "/portal"),
    await ann.call("POST", "/portal", undefined, form),
    await ann.call("POST", "/portal", { return_url: null }),
  ];
  expect(answers.map(({ status, body }) => [status, new URL(body.url).host])).toEqual(
    answers.map(() => [200, "portal.provider.test"]),
  );
  expect(customersOf(await tenantOf(ann))).toHaveLength(1);
});

test("a customer who was deleted at the provider is made anew", async () => {
  const ann = await fixture.person("ann");
  await ann.done("POST", "/portal");
  const tenant = await tenantOf(ann);
  const [former] = customersOf(tenant);
  await fetch(`${fixture.service.url}/v1/customers/${former?.id}`, {
    method: "DELETE",
    headers: { Authorization: `Bearer ${fixture.service.secretKey}`, "Stripe-Version": "2026-10-28.endive" },
  });
  await ann.done("POST", "/portal");
  expect(customersOf(tenant).map(({ id }) => id)).not.toContain(former?.id);
});

test("an address that the provider refuses keeps no tenant from buying", async () => {
  const ann = await fixture.person("ann");
  fixture.service.fail({ method: "POST", path: /\/v1\/customers$/, fault: { kind: "error", status: 400 }, times: 1 });
  await ann.done("POST", "/portal");
  expect(customersOf(await tenantOf(ann))).toMatchObject([{ email: null }]);
});

test("invoices of a tenant alone, page by page; none is asked of one that never bought", async () => {
  const [ann, ben] = [await fixture.person("ann"), await fixture.person("ben")];
  const before = fixture.service.asked.length;
  expect(await ben.done("GET", "/invoices")).toEqual({ invoices: [], items: [], count: 0, next_cursor: null });
  expect(fixture.service.asked.length).toBe(before);
  const customer = await ann.subscribe("business base month");
  await ann.done("POST", "/seats", { extra_seats: 2 });
  const first = await ann.done("GET", "/invoices?limit=1");
  const second = await ann.done("GET", `/invoices?limit=1&cursor=${first.next_cursor}`);
  expect([first.count, second.count, second.next_cursor]).toEqual([1, 1, null]);
  expect(second.items[0]).toMatchObject({ amount: 10000, amount_due: 10000, amount_paid: 10000, status: "paid" });
  expect(Object.keys(second.items[0]).sort()).toEqual(
    [
      "amount",
      "amount_due",
      "amount_paid",
      "created",
      "currency",
      "hosted_invoice_url",
      "id",
      "pdf_url",
      "status",
    ].sort(),
  );
  expect(await ann.refused("GET", "/invoices?cursor=bm9uZQ")).toBe("422 validation_failed");
  expect(await ann.refused("GET", "/invoices?limit=101")).toBe("422 validation_failed");
  expect(customer).toStartWith("cus_");
});

test("a provider that fails or is silent is told apart; its words stay inside", async () => {
  const ann = await fixture.person("ann");
  await ann.subscribe("pro base month");
  const end = fixture.service.fail({ fault: { kind: "error", status: 500 } });
  const failed = await ann.call("GET", "/invoices");
  const changed = await ann.call("POST", "/change-tier", { target_tier: "business" });
  end();
  for (const { status, body } of [failed, changed]) {
    expect([status, body.code]).toEqual([502, "payment_provider_error"]);
    expect(JSON.stringify(body)).not.toContain("provider-internals");
  }
});

test("the platform's own tenant buys nothing", async () => {
  const operator = await fixture.operator("svc-system");
  const bodies = {
    "/checkout": { price_id: fixture.priceId("pro base month") },
    "/portal": undefined,
    "/seats": { extra_seats: 1 },
    "/preview-tier-change": { target_tier: "pro" },
    "/change-tier": { target_tier: "pro" },
  };
  for (const [path, body] of Object.entries(bodies)) {
    const answer = await fixture.nodes[0].call("POST", `/v1/billing${path}`, body, operator);
    expect([path, answer.status, answer.body.code]).toEqual([path, 422, "tenant_not_billable"]);
  }
});

test("what is bought is on record, and a failure as one", async () => {
  const ann = await fixture.person("ann");
  await ann.subscribe("pro base month");
  const end = fixture.service.fail({ method: "POST", path: /subscriptions/, fault: { kind: "error", status: 500 } });
  await ann.call("POST", "/change-tier", { target_tier: "business" });
  end();
  const tenant = await tenantOf(ann);
  const entries = await until(async () => {
    const rows = await fixture.stores.sql<{ action: string; outcome: string }[]>`
      select action, outcome from audit_entries where tenant = ${tenant} and action like 'billing.%' order by at, id`;
    return rows.length >= 3 ? rows : null;
  });
  expect(entries.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
    "billing.checkout allowed",
    "billing.tier_changed allowed",
    "billing.tier_changed failed",
  ]);
});

test("changes on two nodes at once are paid once", async () => {
  const ann = await fixture.person("ann");
  const customer = await ann.subscribe("pro base month");
  const answers = await Promise.all(
    [0, 1, 0, 1].map((node) => ann.call("POST", "/change-tier", { target_tier: "business" }, {}, node)),
  );
  expect(answers.map(({ body }) => body.action).sort()).toEqual([
    "no_change",
    "no_change",
    "no_change",
    "upgrade_immediate",
  ]);
  expect(invoicesOf(customer)).toHaveLength(2);
});

test("a reply lost after the effect charges nothing twice", async () => {
  const ann = await fixture.person("ann");
  const customer = await ann.subscribe("business base month");
  const order = { method: "POST", path: /\/v1\/subscriptions\//, fault: { kind: "lost" } } as const;
  const end = fixture.service.fail(order);
  const wish = { target_tier: "enterprise" };
  const key = { "Idempotency-Key": "lost-upgrade" };
  expect((await ann.call("POST", "/change-tier", wish, key)).status).toBe(502);
  end();
  for (const headers of [key, {}]) {
    const { status, body } = await ann.call("POST", "/change-tier", wish, headers, 1);
    expect([status, body.subscription.tier]).toEqual([200, "enterprise"]);
  }
  expect(invoicesOf(customer)).toHaveLength(2);
  fixture.service.fail({ ...order, times: 1 });
  await ann.done("POST", "/change-tier", { target_tier: "free" });
  expect(ann.subscriptionsOf(customer)).toHaveLength(1);
});
