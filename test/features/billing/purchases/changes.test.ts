/** docs/reference/billing.md: changes of the tier and of seats, paid, declined, scheduled. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../harness/until.ts";
import { type Buyer, PurchaseFixture } from "./fixture.ts";

let fixture: PurchaseFixture;
beforeAll(async () => {
  fixture = await PurchaseFixture.open();
});
afterAll(() => fixture?.close());

const daySeconds = 86_400;
const invoicesOf = (customer: string) =>
  [...fixture.service.account.invoices.values()].filter((row) => row.customer === customer);

/** A person with a tier, and the customer. */
async function subscriber(slot: string, seats = 0): Promise<{ ann: Buyer; customer: string }> {
  const ann = await fixture.person("ann");
  return { ann, customer: await ann.subscribe(slot, seats) };
}

const itemsOf = (ann: Buyer, customer: string): Record<string, number> =>
  Object.fromEntries(
    ann.subscriptionsOf(customer).flatMap(({ items }) => items.data.map(({ price, quantity }) => [price.id, quantity])),
  );
const quantities = (rows: Record<string, number>) =>
  Object.fromEntries(Object.entries(rows).map(([slot, quantity]) => [fixture.priceId(slot), quantity]));

test("an upgrade is paid at once, at the price of its preview", async () => {
  const { ann, customer } = await subscriber("pro base month");
  const wish = { target_tier: "business", seats: 7 };
  const preview = await ann.done("POST", "/preview-tier-change", wish);
  expect(preview).toMatchObject({ action: "upgrade_immediate", seats: 7, currency: "usd" });
  expect(preview.next_renewal_amount_cents).toBe(10_000 + 2 * 1_500);
  expect(invoicesOf(customer)).toHaveLength(1);
  const { proration_date } = preview;
  const changed = await ann.done("POST", "/change-tier", { ...wish, proration_date });
  const [, invoice, ...others] = invoicesOf(customer);
  expect(others).toEqual([]);
  expect(changed).toMatchObject({
    action: "upgrade_immediate",
    target_tier: "business",
    seats: 7,
    proration_invoice_id: invoice?.id ?? "",
    proration_amount_cents: preview.proration_amount_cents,
    effective_at: new Date(proration_date * 1000).toISOString(),
    subscription: { tier: "business", status: "active", seat_count: 7, pending_change: null },
  });
  expect(invoice?.status).toBe("paid");
  expect(itemsOf(ann, customer)).toEqual(quantities({ "business base month": 1, "business seat month": 2 }));
});

test("from month to year is a new period, paid at once", async () => {
  const { ann, customer } = await subscriber("business base month", 1);
  const changed = await ann.done("POST", "/change-tier", { target_tier: "business", billing_interval: "year" });
  expect(changed).toMatchObject({ action: "upgrade_immediate", seats: 6, subscription: { billing_interval: "year" } });
  expect(itemsOf(ann, customer)).toEqual(quantities({ "business base year": 1, "business seat year": 1 }));
});

test("a declined upgrade leaves tier and seats; once its invoice is paid they come", async () => {
  const { ann, customer } = await subscriber("pro base month");
  await ann.done("POST", "/change-tier", { target_tier: "free" });
  fixture.service.declineCard(customer, true);
  const { status, body } = await ann.call("POST", "/change-tier", { target_tier: "business", seats: 6 });
  const invoice = invoicesOf(customer).at(-1);
  expect([status, body.code]).toEqual([402, "payment_failed"]);
  expect(body).toMatchObject({
    invoice_id: invoice?.id ?? "",
    hosted_invoice_url: invoice?.hosted_invoice_url ?? "",
  });
  const former = { tier: "pro", status: "active", seat_count: 1, cancel_at_period_end: true };
  expect(await ann.done("GET", "/subscription")).toMatchObject(former);
  fixture.service.declineCard(customer, false);
  fixture.service.payInvoice(body.invoice_id);
  await until(async () => (await ann.done("GET", "/subscription")).tier === "business");
  expect(await ann.done("GET", "/subscription")).toMatchObject({ seat_count: 6, cancel_at_period_end: false });
});

test("an unknown tier is refused, and cancels nothing", async () => {
  const { ann } = await subscriber("pro base month");
  for (const target_tier of ["platinum", "", null, 1]) {
    expect(await ann.refused("POST", "/change-tier", { target_tier })).toBe("422 validation_failed");
  }
  expect(await ann.refused("POST", "/change-tier", { target_tier: "enterprise", billing_interval: "year" })).toBe(
    "422 unknown_price",
  );
  expect(await ann.refused("POST", "/change-tier", { target_tier: "pro", seats: 3 })).toBe("422 seats_not_available");
  expect(await ann.done("GET", "/subscription")).toMatchObject({ tier: "pro", cancel_at_period_end: false });
});

test("a change replaces what was to come, also one that changes nothing", async () => {
  const { ann, customer } = await subscriber("business base month");
  const changes = [
    ["free", "cancel_at_period_end", { cancel_at_period_end: true, pending_change: { target_tier: "free" } }],
    ["pro", "downgrade_at_period_end", { cancel_at_period_end: false, pending_change: { target_tier: "pro" } }],
    ["free", "cancel_at_period_end", { cancel_at_period_end: true, pending_change: { target_tier: "free" } }],
    ["business", "no_change", { cancel_at_period_end: false, pending_change: null }],
    ["pro", "downgrade_at_period_end", { pending_change: { target_tier: "pro" } }],
    ["enterprise", "upgrade_immediate", { tier: "enterprise", pending_change: null }],
    ["free", "cancel_at_period_end", { tier: "enterprise", cancel_at_period_end: true }],
  ] as const;
  for (const [target_tier, action, subscription] of changes) {
    const seats = target_tier === "pro" ? 1 : undefined;
    const changed = await ann.done("POST", "/change-tier", { target_tier, seats });
    expect(changed).toMatchObject({ action, subscription });
  }
  const [{ schedule } = { schedule: "none" }] = ann.subscriptionsOf(customer);
  expect(schedule).toBeNull();
});

test("a preview of an hour ago, or of an hour ahead, is stale", async () => {
  const { ann, customer } = await subscriber("pro base month");
  const now = Math.floor(Date.now() / 1000);
  for (const proration_date of [now - 3600, now + 3600]) {
    expect(await ann.refused("POST", "/change-tier", { target_tier: "business", proration_date })).toBe(
      "422 stale_preview",
    );
  }
  expect(invoicesOf(customer)).toHaveLength(1);
});

test("seats come paid, go with a credit, and vanish at 0", async () => {
  const { ann, customer } = await subscriber("business base month");
  const [base, seat] = ["business base month", "business seat month"];
  expect(await ann.done("POST", "/seats", { extra_seats: 0 })).toMatchObject({ success: true, seat_count: 5 });
  expect(invoicesOf(customer)).toHaveLength(1);
  const more = await ann.done("POST", "/seats", { extra_seats: 4 });
  expect(more).toMatchObject({ success: true, extra_seats: 4, seat_count: 9, subscription: { seat_count: 9 } });
  expect(invoicesOf(customer)).toHaveLength(2);
  expect(itemsOf(ann, customer)).toEqual(quantities({ [base]: 1, [seat]: 4 }));
  await ann.done("POST", "/seats", { extra_seats: 1 });
  expect(itemsOf(ann, customer)).toEqual(quantities({ [base]: 1, [seat]: 1 }));
  await ann.done("POST", "/seats", { extra_seats: 0 });
  expect(itemsOf(ann, customer)).toEqual(quantities({ [base]: 1 }));
  expect(invoicesOf(customer)).toHaveLength(2);
  fixture.service.declineCard(customer, true);
  expect(await ann.refused("POST", "/seats", { extra_seats: 1 })).toBe("402 payment_failed");
  const year = fixture.priceId("business seat year");
  expect(await ann.refused("POST", "/seats", { extra_seats: 1, seat_price_id: year })).toBe("422 seat_price_mismatch");
  expect(await ann.done("GET", "/subscription")).toMatchObject({ seat_count: 5 });
});

test("seats of people who are members cannot be given up", async () => {
  const { ann, customer } = await subscriber("business base month", 1);
  const tenant = (await ann.done("GET", "/subscription")).tenant_id;
  const team = await until(async () => {
    const made = await fixture.nodes[0].call("POST", "/v1/teams", { display_name: "Team" }, ann.headers);
    return made.status === 201 ? made.body.slug : null;
  });
  await fixture.stores.sql`
    insert into tenant_members (tenant, realm, user_id, role, status)
    select ${team}, realm, 'm' || n, 'member', 'active'
    from tenant_members, generate_series(1, 5) n where tenant = ${team}`;
  expect(await ann.refused("POST", "/seats", { extra_seats: 0 })).toBe("409 seats_in_use");
  expect(await ann.refused("POST", "/change-tier", { target_tier: "business", seats: 5 })).toBe("409 seats_in_use");
  expect(itemsOf(ann, customer)).toEqual(quantities({ "business base month": 1, "business seat month": 1 }));
  expect(tenant).toStartWith("u-");
});

test("who has no subscription has nothing to change", async () => {
  const ann = await fixture.person("ann");
  for (const path of ["/change-tier", "/preview-tier-change"]) {
    expect(await ann.refused("POST", path, { target_tier: "pro" })).toBe("404 no_subscription");
  }
  expect(await ann.refused("POST", "/seats", { extra_seats: 1 })).toBe("404 no_subscription");
});

test("a downgrade waits for the end of the period", async () => {
  const { ann, customer } = await subscriber("business base month", 2);
  const wish = { target_tier: "business", seats: 5 };
  const preview = await ann.done("POST", "/preview-tier-change", wish);
  expect(preview).toMatchObject({
    action: "downgrade_at_period_end",
    proration_amount_cents: 0,
    next_renewal_amount_cents: 10_000,
  });
  await ann.done("POST", "/change-tier", wish);
  const changed = await ann.done("POST", "/change-tier", { target_tier: "pro", seats: 1 });
  const { current_period_end } = changed.subscription;
  expect(changed).toMatchObject({
    action: "downgrade_at_period_end",
    proration_invoice_id: null,
    effective_at: current_period_end,
    subscription: {
      tier: "business",
      seat_count: 7,
      pending_change: { target_tier: "pro", effective_at: current_period_end },
    },
  });
  expect(invoicesOf(customer)).toHaveLength(1);
  fixture.service.advance(32 * daySeconds);
  await until(async () => (await ann.done("GET", "/subscription")).tier === "pro");
  expect(itemsOf(ann, customer)).toEqual(quantities({ "pro base month": 1 }));
  expect(await ann.done("GET", "/subscription")).toMatchObject({ seat_count: 1 });
  expect(invoicesOf(customer).at(-1)).toMatchObject({ billing_reason: "subscription_cycle", total: 2_000 });
});
