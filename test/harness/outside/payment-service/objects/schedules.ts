/** Schedules: phases of items that a subscription goes through. */
import type { Stripe } from "stripe";
import type { Account } from "../account.ts";
import type { Subscription } from "../shapes.ts";
import { invalid, noSuch } from "../wire/errors.ts";
import { listed, listParams } from "../wire/lists.ts";
import type { Params } from "../wire/params.ts";
import type { Endpoint } from "../wire/server.ts";
import { priceOf } from "./catalogue.ts";
import { subscriptionOfId } from "./subscriptions/endpoints.ts";
import { periodEnd } from "./subscriptions/period.ts";

type Schedule = Stripe.SubscriptionSchedule;
type Phase = Stripe.SubscriptionSchedule.Phase;

/** Over: it does not act any more. */
const over: readonly string[] = ["canceled", "completed", "released"];

function phaseOf(start: number, end: number, currency: string, items: Phase["items"]): Phase {
  return {
    add_invoice_items: [],
    application_fee_percent: null,
    billing_cycle_anchor: null,
    billing_thresholds: null,
    collection_method: null,
    currency,
    default_payment_method: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    end_date: end,
    invoice_settings: null,
    items,
    metadata: {},
    on_behalf_of: null,
    proration_behavior: "create_prorations",
    start_date: start,
    transfer_data: null,
    trial_end: null,
  };
}

const itemOf = (price: string, quantity: number): Phase["items"][number] => ({
  billing_thresholds: null,
  discounts: [],
  metadata: {},
  plan: price,
  price,
  quantity,
  tax_rates: [],
});

function release(account: Account, schedule: Schedule): void {
  const subscription = account.subscriptions.get(String(schedule.subscription));
  Object.assign(schedule, {
    status: "released",
    released_at: account.now(String(schedule.customer)),
    released_subscription: schedule.subscription,
    subscription: null,
    current_phase: null,
  });
  if (subscription !== undefined) subscription.schedule = null;
  account.emit("subscription_schedule.released", schedule, String(schedule.customer));
  if (subscription !== undefined) account.emit("customer.subscription.updated", subscription, subscription.customer);
}

export function schedules(account: Account): readonly Endpoint[] {
  function scheduleOf(id: string): Schedule {
    const schedule = account.schedules.get(id);
    if (schedule === undefined) throw noSuch("subscription schedule", id);
    return schedule;
  }

  function create(params: Params): Schedule {
    const subscription = subscriptionOfId(account, params.requireText("from_subscription"), "from_subscription");
    if (subscription.schedule !== null) {
      throw invalid("You cannot migrate a subscription that is already attached to a schedule.", "from_subscription");
    }
    if (subscription.status === "canceled")
      throw invalid("You cannot migrate a canceled subscription.", "from_subscription");
    const schedule = scheduleFrom(account, subscription);
    account.schedules.set(schedule.id, schedule);
    subscription.schedule = schedule.id;
    account.emit("subscription_schedule.created", schedule, subscription.customer);
    account.emit("customer.subscription.updated", subscription, subscription.customer);
    return schedule;
  }

  function update(params: Params, id: string): Schedule {
    const schedule = scheduleOf(id);
    if (over.includes(schedule.status)) throw invalid(`You cannot update a ${schedule.status} schedule.`);
    schedule.end_behavior = params.choice("end_behavior", ["release", "cancel"], schedule.end_behavior as "release");
    schedule.metadata = params.metadata(schedule.metadata ?? {});
    const rows = params.objects("phases");
    if (rows !== null) schedule.phases = phasesOf(rows, schedule);
    account.emit("subscription_schedule.updated", schedule, String(schedule.customer));
    return schedule;
  }

  function phasesOf(rows: readonly Params[], schedule: Schedule): Phase[] {
    const phases: Phase[] = [];
    for (const row of rows) {
      row.only(["items", "start_date", "end_date", "duration", "proration_behavior", "discounts"]);
      const start = row.integer("start_date") ?? phases.at(-1)?.end_date;
      if (start === undefined) throw invalid("The first phase needs a start_date.", "phases[0][start_date]");
      const items = (row.objects("items") ?? []).map((item) => {
        item.only(["price", "quantity", "discounts"]);
        return {
          price: priceOf(account, item.requireText("price"), "phases[items][price]"),
          quantity: item.integer("quantity") ?? 1,
        };
      });
      const [first] = items;
      if (first === undefined) throw invalid("A phase needs items.", "phases[items]", "parameter_missing");
      const duration = row.object("duration")?.only(["interval", "interval_count"]) ?? null;
      const given = row.integer("end_date");
      if ((duration === null) === (given === null)) throw invalid("Give either end_date or duration.", "phases");
      const recurring = {
        ...first.price.recurring,
        interval: duration?.choice("interval", ["day", "week", "month", "year"], "month") ?? "month",
        interval_count: duration?.integer("interval_count") ?? 1,
      } as Stripe.Price.Recurring;
      const end = given ?? periodEnd(start, { ...first.price, recurring });
      const rowsOf = items.map(({ price, quantity }) => itemOf(price.id, quantity));
      const phase = phaseOf(start, end, first.price.currency, rowsOf);
      phase.proration_behavior = row.choice(
        "proration_behavior",
        ["create_prorations", "always_invoice", "none"],
        "create_prorations",
      );
      phases.push(phase);
    }
    const [current] = phases;
    const former = schedule.current_phase;
    if (former !== null && current?.start_date !== former.start_date) {
      throw invalid("You can not modify the start date of the current phase.", "phases[0][start_date]");
    }
    if (current !== undefined) schedule.current_phase = { start_date: current.start_date, end_date: current.end_date };
    return phases;
  }

  return [
    { method: "POST", path: "/v1/subscription_schedules", accepts: ["from_subscription"], run: create },
    {
      method: "GET",
      path: "/v1/subscription_schedules",
      accepts: [...listParams, "customer"],
      run: (params) =>
        listed(
          "/v1/subscription_schedules",
          [...account.schedules.values()].filter((row) => [null, row.customer].includes(params.text("customer"))),
          params,
        ),
    },
    { method: "GET", path: "/v1/subscription_schedules/:id", accepts: [], run: (_params, id) => scheduleOf(id) },
    {
      method: "POST",
      path: "/v1/subscription_schedules/:id",
      accepts: ["phases", "end_behavior", "metadata"],
      run: update,
    },
    {
      method: "POST",
      path: "/v1/subscription_schedules/:id/release",
      accepts: ["preserve_cancel_date"],
      run: (_params, id) => {
        const schedule = scheduleOf(id);
        if (over.includes(schedule.status)) throw invalid(`You cannot release a ${schedule.status} schedule.`);
        release(account, schedule);
        return schedule;
      },
    },
  ];
}

function scheduleFrom(account: Account, subscription: Subscription): Schedule {
  const [first] = subscription.items.data;
  const { current_period_start: start = 0, current_period_end: end = 0 } = first ?? {};
  const items = subscription.items.data.map(({ price, quantity }) => itemOf(price.id, quantity));
  return {
    id: account.newId("sub_sched"),
    object: "subscription_schedule",
    application: null,
    billing_mode: subscription.billing_mode,
    canceled_at: null,
    completed_at: null,
    created: account.now(subscription.customer),
    current_phase: { start_date: start, end_date: end },
    customer: subscription.customer,
    customer_account: null,
    default_settings: {
      application_fee_percent: null,
      billing_cycle_anchor: "automatic",
      billing_thresholds: null,
      collection_method: "charge_automatically",
      default_payment_method: null,
      description: null,
      invoice_settings: {
        account_tax_ids: null,
        custom_fields: null,
        days_until_due: null,
        description: null,
        footer: null,
        issuer: { type: "self" },
      },
      on_behalf_of: null,
      transfer_data: null,
    },
    end_behavior: "release",
    livemode: false,
    metadata: {},
    pause_schedules: [],
    phases: [phaseOf(start, end, subscription.currency, items)],
    released_at: null,
    released_subscription: null,
    status: "active",
    subscription: subscription.id,
    test_clock: subscription.test_clock,
  };
}
