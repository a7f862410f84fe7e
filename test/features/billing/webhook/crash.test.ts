/** An event that was answered with 200 has its effect, whatever happens to the node (docs/reference/billing.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../harness/until.ts";
import { BillingFixture } from "./fixture.ts";

let fixture: BillingFixture;
beforeAll(async () => {
  fixture = await BillingFixture.open();
});
afterAll(() => fixture?.close());

test("a node killed behind the answer leaves the effect, once", async () => {
  const customer = await fixture.customer();
  const price = await fixture.price("business");
  const { id } = await customer.subscribe(price);
  const subscription = fixture.provider.account.subscriptions.get(id) ?? {};
  // One is under way when the node dies: the provider keeps it waiting.
  fixture.provider.fail({ path: new RegExp(id), fault: { kind: "slow" }, times: 1 });
  const paid = fixture.event("invoice.paid", { id: "in_1", customer: customer.id, subscription: id });
  await fixture.deliver(paid);
  await until(() => fixture.provider.asked.some(({ path }) => path.includes(id)));
  const other = await fixture.customer();
  const bought = await other.subscribe(price);
  const created = fixture.event(
    "customer.subscription.created",
    fixture.provider.account.subscriptions.get(bought.id) ?? {},
  );
  expect((await fixture.deliver(created)).status).toBe(200);
  await fixture.node.kill();
  fixture.provider.release();
  await fixture.node.restart();
  expect([await fixture.settled(paid.id), await fixture.settled(created.id)]).toEqual(["applied", "applied"]);
  expect(subscription).toMatchObject({ status: "active" });
  for (const one of [customer, other]) {
    expect(await one.shown()).toMatchObject({ tier: "business", status: "active" });
    await until(async () => (await one.inForce())[0] === "business");
  }
  expect((await fixture.deliver(created)).body).toEqual({ received: true, duplicate: true });
  const [row] = await fixture.stores.sql`
    select count(*)::int as count, max(revision)::int as revision from billing_subscriptions
    where subscription_id = ${bought.id}`;
  expect(row).toEqual({ count: 1, revision: 1 });
});
