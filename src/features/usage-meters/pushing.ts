/** Tells the meters of the payment provider what was used, each figure of each hour of a tenant once. */
import { type Meters, pushId } from "../../../actors/usage/meters.ts";
import { type Payment, PaymentFailure } from "../../adapters/payment/port.ts";
import { sideBySide } from "../../lib/side-by-side.ts";
import type { Incidents } from "../incidents/port.ts";
import type { Push, Pushes } from "./records.ts";

export interface PushingOptions {
  readonly pushes: Pushes;
  readonly meters: Meters;
  readonly payment: Pick<Payment, "write">;
  readonly incidents: Pick<Incidents, "report">;
}

const atOnce = 100;
const atATime = 4;

/** The provider has it from an earlier attempt. */
const isThere = (error: unknown): boolean => error instanceof PaymentFailure && error.code === "duplicate_meter_event";

/** One round: puts down what is to be told, tells it, and gives up what may not be tried again. @throws what the store throws */
export async function pushUsage(options: PushingOptions): Promise<void> {
  const { pushes, meters, incidents } = options;
  while (await pushes.note(meters));
  for (;;) {
    const some = await pushes.take(meters, atOnce);
    await sideBySide(some, atATime, (one) => push(options, one));
    if (some.length < atOnce) break;
  }
  for (const { tenant, figure, hour, value } of await pushes.giveUp()) {
    incidents.report({
      ...{ category: "billing_drift", tenant, agentId: null, executionId: null, sessionId: null, toolName: null },
      violationType: "usage_not_pushed",
      details: { figure, hour: hour.toISOString(), value },
    });
  }
  await pushes.erase();
}

async function push({ pushes, meters, payment }: PushingOptions, one: Push): Promise<void> {
  const event_name = meters[one.figure];
  if (event_name === undefined) return;
  const identifier = pushId(one.tenant, one.figure, one.hour);
  const event = {
    event_name,
    identifier,
    timestamp: Math.floor(one.hour.getTime() / 1000),
    payload: { stripe_customer_id: one.customer_id, value: one.value },
  };
  try {
    // Under a key of its own: the provider would repeat the error of the attempt before. The identifier tells repeats.
    await payment.write("meter event", `usage:${identifier}:${one.attempts}`, (client, options) =>
      client.billing.meterEvents.create(event, options),
    );
  } catch (error) {
    // What went wrong is in the log of the client.
    if (!isThere(error)) return pushes.failed(one);
  }
  await pushes.pushed(one);
}
