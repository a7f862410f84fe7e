/** Comparisons with the provider, and the end of a deleted tenant's subscriptions (docs/reference/billing.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../harness/until.ts";
import { BillingFixture } from "../webhook/fixture.ts";

let fixture: BillingFixture;
beforeAll(async () => {
  fixture = await BillingFixture.open({ SVC_BILLING_COMPARISON_SECONDS: "1" });
});
afterAll(() => fixture?.close());

/** A day goes by for the customer. */
const due = (tenant: string) => fixture.stores.sql`
  update billing_customers set created_at = now() - interval '2 days', checked_at = null where tenant = ${tenant}`;

const driftOf = async (tenant: string) =>
  (await fixture.incidents("billing_drift")).filter((one) => one.tenant === tenant).map(({ reason }) => reason);

test.concurrent("what no event told is found and mended, and then nothing differs", async () => {
  const customer = await fixture.customer();
  const { id } = await customer.subscribe(await fixture.price("enterprise"));
  await due(customer.tenant);
  await until(async () => (await customer.shown()).tier === "enterprise");
  await until(async () => (await driftOf(customer.tenant)).includes("differs"));
  const subscription = fixture.provider.account.subscriptions.get(id);
  if (subscription === undefined) throw new Error("the provider has the subscription");
  const before = (await driftOf(customer.tenant)).length;
  await due(customer.tenant);
  await until(async () => {
    const [row] = await fixture.stores.sql`select checked_at from billing_customers where tenant = ${customer.tenant}`;
    return row?.checked_at !== null && Date.now() - row?.checked_at.getTime() < 60_000;
  });
  expect(await driftOf(customer.tenant)).toHaveLength(before);
  subscription.status = "canceled";
  await due(customer.tenant);
  await until(async () => (await customer.shown()).status === "canceled");
  await until(async () => (await customer.inForce())[0] === "free");
});

test.concurrent("a deleted tenant's subscription is cancelled at the provider, once it answers", async () => {
  const customer = await fixture.customer();
  const price = await fixture.price("pro");
  const { body: checkout } = await customer.call("POST", "/v1/billing/checkout", { price_id: price });
  const { id } = await customer.subscribe(price);
  const subscription = () => fixture.provider.account.subscriptions.get(id);
  const recover = fixture.provider.fail({
    method: "DELETE",
    path: new RegExp(id),
    fault: { kind: "error", status: 500 },
  });
  const operator = {
    Authorization: `Bearer ${await fixture.node.token({ grant_type: "password", username: "admin", password: "dev", client_id: "", client_secret: "" })}`,
  };
  const { status } = await fixture.node.call("DELETE", `/v1/admin/tenants/${customer.tenant}`, undefined, operator);
  expect(status).toBe(200);
  await until(() => fixture.provider.asked.some(({ method, path }) => method === "DELETE" && path.includes(id)));
  expect(subscription()?.status).toBe("active");
  recover();
  await until(() => subscription()?.status === "canceled");
  expect(fixture.provider.account.checkouts.get(checkout.session_id)?.status).toBe("expired");
  // What is bought for it afterwards ends as well.
  const further = await customer.subscribe(await fixture.price("pro"));
  const bought = fixture.provider.account.subscriptions.get(further.id) ?? {};
  await fixture.told(fixture.event("customer.subscription.created", bought));
  await until(() => fixture.provider.account.subscriptions.get(further.id)?.status === "canceled");
});

test.concurrent("a team has the seats that its owner subscribed, and stands still behind its end", async () => {
  const owner = await fixture.customer();
  const subscribe = async (extra: number) => {
    const { id: product } = await fixture.stripe.products.create({
      name: "Business",
      metadata: { included_seats: "2" },
    });
    const made = (kind: string) =>
      fixture.stripe.prices.create({
        product,
        currency: "eur",
        unit_amount: 500,
        recurring: { interval: "month" },
        metadata: { tier: "business", kind },
      });
    const [base, seat] = [await made("base"), await made("seat")];
    const items = [{ price: base.id }, { price: seat.id, quantity: extra }];
    const { id } = await fixture.stripe.subscriptions.create({ customer: owner.id, items });
    const subscription = fixture.provider.account.subscriptions.get(id) ?? {};
    await fixture.told(fixture.event("customer.subscription.created", subscription));
    return subscription;
  };
  const first = await subscribe(1);
  await until(async () => (await owner.inForce())[0] === "business");
  const { body: team } = await owner.call("POST", "/v1/teams", { display_name: "Payments" });
  const inTeam = { "X-Svc-Team": team.id };
  const shown = await owner.call("GET", "/v1/colony/subscription", undefined, inTeam);
  expect(shown.body).toMatchObject({
    tier: "business",
    status: "active",
    seat_count: 3,
    members_limit: 3,
    members_used: 1,
    current_period_end: expect.stringMatching(/Z$/),
    is_team: true,
  });
  // The owner's own subscription is what a team pays with.
  const billed = await owner.call("GET", "/v1/billing/subscription", undefined, inTeam);
  expect(billed.body).toMatchObject({ tenant_id: owner.tenant, seat_count: 3 });
  const invite = async (name: string) =>
    (await owner.call("POST", "/v1/colony/members", { email: `${name}@billing.test` }, inTeam)).status;
  expect([await invite("a"), await invite("b"), await invite("c")]).toEqual([201, 201, 402]);
  const agents = async () => (await owner.call("GET", "/v1/agents", undefined, inTeam)).body.code ?? "open";
  expect(await agents()).toBe("open");
  await fixture.told(fixture.event("customer.subscription.deleted", first));
  await until(async () => (await agents()) === "colony_suspended");
  await subscribe(0);
  await until(async () => (await agents()) === "open");
});
