/** The payment provider's events, from their delivery to what a tenant may do (docs/reference/billing.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { signature } from "../../../harness/outside/payment-service/webhooks.ts";
import { until } from "../../../harness/until.ts";
import { BillingFixture, newSecret, oldSecret } from "./fixture.ts";

let fixture: BillingFixture;
beforeAll(async () => {
  fixture = await BillingFixture.open();
});
afterAll(() => fixture?.close());

const now = (): number => Math.floor(Date.now() / 1000);

/** Changes a subscription at the provider, which says nothing of it. */
function provided(id: string) {
  const subscription = fixture.provider.account.subscriptions.get(id);
  if (subscription === undefined) throw new Error("there is no such subscription");
  return subscription;
}

test.concurrent("a delivery is taken by any secret and any signature, once", async () => {
  const event = fixture.event("customer.created", { id: "cus_other" });
  const body = JSON.stringify(event);
  const by = (header: string) => fixture.post(body, { "Stripe-Signature": header });
  const first = await by(signature(body, [newSecret]));
  expect([first.status, first.body]).toEqual([200, { received: true }]);
  const foreign = Array.from({ length: 30 }, () => "whsec_foreign");
  const answers = [signature(body, [oldSecret]), signature(body, [...foreign, newSecret])];
  for (const header of answers) {
    const { status, body: answer } = await by(header);
    expect([status, answer]).toEqual([200, { received: true, duplicate: true }]);
  }
  const rows = await fixture.stores.sql`select state, attempts from billing_events where event_id = ${event.id}`;
  expect([...rows]).toEqual([{ state: "ignored", attempts: 0 }]);
});

test.concurrent("what is not signed, too old, too large or no event is refused", async () => {
  const body = JSON.stringify(fixture.event("invoice.paid", {}));
  const signed = (of: string, at?: number) => ({ "Stripe-Signature": signature(of, [newSecret], at) });
  const cases: readonly [string, Readonly<Record<string, string>>, string][] = [
    [body, {}, "401 missing_signature"],
    [body, { "Stripe-Signature": "t=,v1=" }, "400 malformed_signature"],
    [body, { "Stripe-Signature": `t=${now()},v1=xyz` }, "400 malformed_signature"],
    [body, { "Stripe-Signature": `v1=${"0".repeat(64)}` }, "400 malformed_signature"],
    [`${body} `, signed(body), "401 invalid_signature"],
    [body, { "Stripe-Signature": signature(body, ["whsec_foreign"]) }, "401 invalid_signature"],
    [body, signed(body, now() - 600), "401 signature_expired"],
    [body, signed(body, now() + 600), "401 signature_expired"],
    ["{", signed("{"), "400 malformed_body"],
    ["[]", signed("[]"), "400 malformed_body"],
    [" ".repeat(1_048_577), signed(body), "413 body_too_large"],
  ];
  for (const [sent, headers, refusal] of cases) {
    const { status, body: answer } = await fixture.post(sent, headers);
    expect(`${status} ${answer.code}`).toBe(refusal);
  }
});

test.concurrent("an older event that comes later changes nothing, and quotas follow the newest", async () => {
  const customer = await fixture.customer();
  expect(await customer.shown()).toMatchObject({ tier: "free", status: "none", seat_count: 1, updated_at: null });
  const price = await fixture.price("business");
  const cheap = await fixture.price("pro");
  const { id } = await customer.subscribe(price);
  const newer = provided(id);
  const older = {
    ...newer,
    items: { ...newer.items, data: provided((await customer.subscribe(cheap)).id).items.data },
  };
  expect(await fixture.told(fixture.event("customer.subscription.updated", newer, now()))).toBe("applied");
  expect(await fixture.told(fixture.event("customer.subscription.created", older, now() - 60))).toBe("applied");
  expect(await customer.shown()).toMatchObject({
    tenant_id: customer.tenant,
    tier: "business",
    status: "active",
    stripe_customer_id: customer.id,
    stripe_subscription_id: id,
    cancel_at_period_end: false,
    seat_count: 5,
    billing_interval: "month",
    pending_change: null,
  });
  const [, free] = await (await fixture.customer()).inForce();
  await until(async () => (await customer.inForce())[0] === "business");
  expect((await customer.inForce())[1]).toBeGreaterThan(free);
  expect(await fixture.told(fixture.event("customer.subscription.deleted", newer))).toBe("applied");
  expect(await customer.shown()).toMatchObject({ tier: "free", status: "canceled" });
  await until(async () => (await customer.inForce())[0] === "free");
  expect(await customer.inForce()).toEqual(["free", free]);
});

test.concurrent("of two events of one second the provider tells which came last", async () => {
  const customer = await fixture.customer();
  const { id } = await customer.subscribe(await fixture.price("enterprise"));
  const [cheap] = provided((await customer.subscribe(await fixture.price("pro"))).id).items.data;
  const subscription = provided(id);
  const at = now();
  if (cheap === undefined) throw new Error("a subscription has an item");
  const before = { ...subscription, items: { ...subscription.items, data: [cheap] } };
  await fixture.told(fixture.event("customer.subscription.updated", subscription, at));
  await fixture.told(fixture.event("customer.subscription.created", before, at));
  expect(await customer.shown()).toMatchObject({ tier: "enterprise" });
});

test.concurrent("what a session claims sets no tier, and a checkout links its customer", async () => {
  const customer = await fixture.customer();
  await fixture.stores.sql`delete from billing_customers where tenant = ${customer.tenant}`;
  const subscription = await customer.subscribe(await fixture.price("pro"), { tier: "enterprise" });
  // Nothing says yet whose it is.
  const early = fixture.event("customer.subscription.created", provided(subscription.id), now() - 5);
  expect(await fixture.told(early)).toBe("unmatched");
  const session = {
    id: "cs_1",
    object: "checkout.session",
    customer: customer.id,
    subscription: subscription.id,
    client_reference_id: customer.tenant,
    metadata: { tier: "enterprise" },
  };
  expect(await fixture.told(fixture.event("checkout.session.completed", session))).toBe("applied");
  expect(await customer.shown()).toMatchObject({ tier: "pro", stripe_customer_id: customer.id });
  // What came before its customer was known is worked through as well.
  expect(await until(async () => (await fixture.settled(early.id)) === "applied")).toBe(true);
  const incidents = await until(async () => {
    const found = await fixture.incidents("billing_drift");
    return found.some(({ reason, customer: of }) => reason === "unmatched" && of === customer.id);
  });
  expect(incidents).toBe(true);
});

test.concurrent("of two live subscriptions the higher holds, and the end of one leaves the other", async () => {
  const customer = await fixture.customer();
  const older = await customer.subscribe(await fixture.price("enterprise"));
  await fixture.told(fixture.event("customer.subscription.created", provided(older.id)));
  const newer = await customer.subscribe(await fixture.price("business"));
  await fixture.told(fixture.event("customer.subscription.created", provided(newer.id)));
  expect(await customer.shown()).toMatchObject({ tier: "enterprise", stripe_subscription_id: older.id });
  await until(async () => {
    const found = await fixture.incidents("billing_drift");
    return found.some(({ tenant, reason }) => tenant === customer.tenant && reason === "several_live");
  });
  await fixture.told(fixture.event("customer.subscription.deleted", provided(older.id)));
  expect(await customer.shown()).toMatchObject({ tier: "business", stripe_subscription_id: newer.id });
});

test.concurrent("a grace begins with the first failure of what is past due, and ends by itself", async () => {
  const customer = await fixture.customer();
  const { id } = await customer.subscribe(await fixture.price("pro"));
  const subscription = provided(id);
  const week = 7 * 86_400;
  const failed = (at: number) => {
    const invoice = { id: subscription.latest_invoice, customer: customer.id, subscription: id };
    return fixture.told(fixture.event("invoice.payment_failed", invoice, at));
  };
  const graceEnd = async () => {
    const [row] = await fixture.stores.sql<{ at: number | null }[]>`
      select extract(epoch from grace_ends_at)::float8 as at from billing_subscriptions where subscription_id = ${id}`;
    return row?.at ?? null;
  };
  await failed(now() - 2 * week);
  expect([await graceEnd(), (await customer.shown()).tier]).toEqual([null, "pro"]);
  subscription.status = "past_due";
  const [first, later] = [now() - 86_400, now() - 3600];
  await failed(later);
  await failed(first);
  expect([await graceEnd(), (await customer.shown()).tier]).toEqual([first + week, "pro"]);
  // The time of its end comes: nothing else does.
  await fixture.stores.sql`
    update billing_subscriptions set failed_at = ${`{${now() - week - 60}}`}::text::bigint[],
      grace_ends_at = now() - interval '1 minute' where subscription_id = ${id}`;
  await until(async () => (await customer.inForce())[0] === "free");
  expect(await customer.shown()).toMatchObject({ tier: "free", status: "past_due" });
  subscription.status = "active";
  await fixture.told(fixture.event("invoice.paid", { id: "in_2", customer: customer.id, subscription: id }));
  expect([await graceEnd(), (await customer.shown()).tier]).toEqual([null, "pro"]);
  await until(async () => (await customer.inForce())[0] === "pro");
});

test.concurrent("without a brand a product's name sells no tier", async () => {
  const customer = await fixture.customer();
  const price = await fixture.price("", { name: "Enterprise" });
  const { id } = await customer.subscribe(price);
  await fixture.told(fixture.event("customer.subscription.created", provided(id)));
  expect(await customer.shown()).toMatchObject({ tier: "free", status: "none" });
});

test.concurrent("what the provider does not answer is tried again, eight times in all", async () => {
  const customer = await fixture.customer();
  const { id } = await customer.subscribe(await fixture.price("pro"));
  const { sql } = fixture.stores;
  const recover = fixture.provider.fail({ path: new RegExp(id), fault: { kind: "error", status: 500 } });
  const paid = fixture.event("invoice.paid", { id: "in_3", customer: customer.id, subscription: id });
  await fixture.deliver(paid);
  await until(async () => {
    const [row] =
      await sql`select error from billing_events where event_id = ${paid.id} and due_at < now() + interval '1 minute'`;
    return row !== undefined && row.error !== null;
  });
  recover();
  await sql`update billing_events set due_at = now() where event_id = ${paid.id}`;
  expect(await fixture.settled(paid.id)).toBe("applied");
  expect(await customer.shown()).toMatchObject({ tier: "pro" });
  const further = fixture.event("checkout.session.completed", {
    customer: customer.id,
    subscription: "sub_unknown",
    client_reference_id: customer.tenant,
  });
  await fixture.deliver(further);
  const failedOnce = async () =>
    (
      await sql`
      update billing_events set attempts = 6, due_at = now() where event_id = ${further.id} and error is not null
        and attempts = 1`
    ).count > 0;
  await until(failedOnce);
  await until(async () => {
    await sql`update billing_events set due_at = now() where event_id = ${further.id} and attempts = 7`;
    return (
      (await sql`select from billing_events where event_id = ${further.id} and state = 'dead' and attempts = 8`).count >
      0
    );
  });
  await until(async () => (await fixture.incidents("billing_event_failed")).some((one) => one.event_id === further.id));
});
