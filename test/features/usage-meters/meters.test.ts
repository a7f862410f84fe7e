/** Hours of usage at the payment provider's meters: each once, whatever fails on the way (docs/reference/usage.md). */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { figures } from "../../../actors/usage/figures.ts";
import { hourMs } from "../../../actors/usage/spans.ts";
import { openPayment, type Payment } from "../../../src/adapters/payment/port.ts";
import type { Incident } from "../../../src/features/incidents/port.ts";
import { addActivities } from "../../../src/features/usage/activities/port.ts";
import { sumUp } from "../../../src/features/usage/upkeep/summing.ts";
import { pushUsage } from "../../../src/features/usage-meters/pushing.ts";
import { pushRecords } from "../../../src/features/usage-meters/records.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { type PaymentService, startPaymentService } from "../../harness/outside/payment-service/service.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let service: PaymentService;
let payment: Payment;
const reported: Incident[] = [];
const meters = Object.fromEntries(figures.map((figure) => [figure, `svc_${figure}`]));
/** Long closed. */
const hour = new Date(Math.floor(Date.now() / hourMs) * hourMs - 3 * hourMs);

beforeAll(async () => {
  [stores, service] = await Promise.all([freshStores(), startPaymentService()]);
  payment = openPayment({ secretKey: new Secret(service.secretKey), apiBase: service.url, warn() {} });
});
afterAll(async () => {
  await stores?.dispose();
  await service?.stop();
});

const round = () =>
  pushUsage({
    ...{ pushes: pushRecords(stores.sql), meters, payment },
    incidents: { report: (incident) => void reported.push(incident) },
  });
const eventsOf = (tenant: string) =>
  [...service.account.meterEvents.values()].filter(({ identifier }) => identifier.startsWith(`${tenant}:`));

/** A tenant with usage of the hour, a customer of the provider where it says so. */
async function tenantWith(isCustomer: boolean): Promise<{ tenant: string; customer: string }> {
  const { sql } = stores;
  const tenant = `t-${crypto.randomUUID()}`;
  const { id: customer } = await payment.write("customer", tenant, (client, options) =>
    client.customers.create({ metadata: { tenant_id: tenant } }, options),
  );
  if (isCustomer) await sql`insert into billing_customers (tenant, customer_id) values (${tenant}, ${customer})`;
  const whose = { tenant, agent_id: "a", workflow: null, model: null, tool: null };
  const all = [
    { ...whose, kind: "execution" as const },
    { ...whose, kind: "model_call" as const, input_tokens: 1_000, output_tokens: 20, cost: 0.1 },
    { ...whose, kind: "model_call" as const, input_tokens: 500, output_tokens: 3, cost: 0.2 },
    { ...whose, kind: "instance" as const, duration_ms: 1_500 },
  ].map((one) => ({ ...one, id: crypto.randomUUID() }));
  const { text, parameters } = addActivities(all);
  await sql.unsafe(text, parameters as string[]);
  await sql`update usage_activities set at = ${new Date(hour.getTime() + 60_000)} where tenant = ${tenant}`;
  await sql`insert into usage_storage (tenant, hour, bytes) values (${tenant}, ${hour}, ${2 ** 29})`;
  return { tenant, customer };
}

/** As if none of the hours since had been looked at. */
beforeEach(async () => {
  const { sql } = stores;
  await sql`delete from usage_sums`;
  await sql`delete from usage_pushes`;
  await sql`delete from usage_activities`;
  await sql`delete from usage_storage`;
  await sql`delete from billing_customers`;
  await sql`update usage_progress set hours_until = ${hour}, pushed_until = ${hour}`;
  reported.length = 0;
});
const summedUp = async (): Promise<void> => {
  while (await sumUp(stores.sql));
};

test("an hour of a customer is told once, each figure; of others nothing is told", async () => {
  const { tenant, customer } = await tenantWith(true);
  const other = await tenantWith(false);
  await round();
  expect(eventsOf(tenant)).toEqual([]);
  await summedUp();
  await Promise.all([round(), round()]);
  await round();
  const at = hour.toISOString().slice(0, 13);
  const told = eventsOf(tenant).map(({ identifier, event_name, payload, timestamp }) => {
    expect(payload.stripe_customer_id).toBe(customer);
    expect(timestamp * 1000).toBe(hour.getTime());
    return [identifier, event_name, payload.value];
  });
  const expected = [
    ["executions", "1"],
    ["input_tokens", "1500"],
    ["output_tokens", "23"],
    ["cost", "0.3"],
    ["sandbox_seconds", "1.5"],
    ["storage_gib_hours", "0.5"],
  ].map(([figure, value]) => [`${tenant}:${figure}:${at}`, `svc_${figure}`, value]);
  expect(told.sort()).toEqual(expected.sort());
  expect(eventsOf(other.tenant)).toEqual([]);
});

test("what the provider did not answer is told again, and is there once", async () => {
  const { tenant } = await tenantWith(true);
  await summedUp();
  service.fail({ path: /meter_events/, times: 3, fault: { kind: "error", status: 500 } });
  service.fail({ path: /meter_events/, times: 1, fault: { kind: "lost" } });
  await round();
  const due = await stores.sql`select figure from usage_pushes where tenant = ${tenant} and state = 'due'`;
  expect(due).toHaveLength(3);
  const asked = service.asked.length;
  // They wait before they are tried again.
  await round();
  expect(service.asked.length).toBe(asked);
  await stores.sql`update usage_pushes set due_at = now()`;
  await round();
  const states = await stores.sql`select distinct state from usage_pushes where tenant = ${tenant}`;
  expect([...states]).toEqual([{ state: "pushed" }]);
  expect(eventsOf(tenant)).toHaveLength(6);
});

test("what a killed node had begun is told again under the same identifier", async () => {
  const { tenant } = await tenantWith(true);
  await summedUp();
  await round();
  const before = eventsOf(tenant).map(({ created, identifier }) => [identifier, created]);
  // Told, and not put down as told.
  await stores.sql`update usage_pushes set state = 'due', due_at = now() where tenant = ${tenant}`;
  await round();
  expect(eventsOf(tenant).map(({ created, identifier }) => [identifier, created])).toEqual(before);
  const left = await stores.sql`select from usage_pushes where tenant = ${tenant} and state <> 'pushed'`;
  expect(left).toHaveLength(0);
});

test("what could not be told in time is an incident, and is not tried again", async () => {
  const { tenant } = await tenantWith(true);
  await summedUp();
  const end = service.fail({ path: /meter_events/, fault: { kind: "error", status: 500 } });
  await round();
  end();
  await stores.sql`
    update usage_pushes set first_at = now() - interval '23 hours 1 minute', due_at = now() where tenant = ${tenant}`;
  await round();
  expect(eventsOf(tenant)).toEqual([]);
  expect(reported.filter((incident) => incident.tenant === tenant)).toHaveLength(6);
  expect(reported[0]).toMatchObject({ category: "billing_drift", violationType: "usage_not_pushed" });
  expect(reported.map(({ details }) => details.figure)).toContain("cost");
  await stores.sql`update usage_pushes set due_at = now() where tenant = ${tenant}`;
  await round();
  expect(eventsOf(tenant)).toEqual([]);
});
