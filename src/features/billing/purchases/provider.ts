/** Changes of a subscription at the provider. Every function throws PaymentFailure. */
import { type ItemChange, linesOf, type Shape } from "../../../../actors/billing/changes.ts";
import type { Facts } from "../../../../actors/billing/subscription.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { type Payment, PaymentFailure } from "../../../adapters/payment/port.ts";
import { stepKey } from "./purchase.ts";

export interface Invoiced {
  readonly id: string;
  /** In the smallest unit; negative for a credit. */
  readonly total: number;
  readonly hostedUrl: string | null;
}

/** What an update that has to be paid came to. */
export interface Charged {
  /** It waits for its payment, and until then changes nothing. */
  readonly isPending: boolean;
  /** That it made; null: none was due. */
  readonly invoice: Invoiced | null;
}

export interface Quote {
  readonly total: number;
  readonly currency: string;
}

export interface SubscriptionChanges {
  /**
   * What the change costs now.
   * @param at Unix seconds
   * @returns with the proration's date: where the provider's clock is ahead, no earlier than the period
   */
  quoteNow(facts: Facts, items: readonly ItemChange[], at: number): Promise<Quote & { readonly at: number }>;
  /** What the subscription costs each period, changed in this way. */
  quoteRecurring(facts: Facts, items: readonly ItemChange[]): Promise<Quote>;
  /**
   * Changes its items once that is paid, and takes back that it ends.
   * @param at the proration's date, Unix seconds; null: the provider's now
   * @throws Problem 422 `stale_preview` where that lies before the period
   */
  upgrade(facts: Facts, items: readonly ItemChange[], at: number | null, work: string): Promise<Charged>;
  /** Changes its items at once; what was paid too much counts on the next invoice. */
  reduce(facts: Facts, items: readonly ItemChange[], work: string): Promise<void>;
  /** Has it become a shape at the end of its period. */
  schedule(facts: Facts, shape: Shape, work: string): Promise<void>;
  /** Has it end with its period. */
  cancelAtPeriodEnd(facts: Facts, work: string): Promise<void>;
  /** Lets go of its schedule; nothing where it has none. */
  release(facts: Facts, work: string): Promise<void>;
  /** Takes back that it ends; nothing where it does not. */
  keep(facts: Facts, work: string): Promise<void>;
}

export function subscriptionChanges(payment: Payment): SubscriptionChanges {
  const rows = (items: readonly ItemChange[]) => items.map((item) => ({ ...item }));

  async function update(
    { id }: Facts,
    step: string,
    asked: { readonly cancel_at_period_end?: boolean; readonly cancel_at?: ""; readonly items?: ItemChange[] } & {
      readonly proration_behavior?: "create_prorations";
    },
    work: string,
  ): Promise<void> {
    await payment.write(`${step} subscription`, stepKey(work, step, [id, asked]), (client, options) =>
      client.subscriptions.update(id, asked, options),
    );
  }

  const read = (id: string) =>
    payment.read("read subscription", (client, options) => client.subscriptions.retrieve(id, {}, options));

  async function preview(asked: PreviewAsked): Promise<Quote> {
    // It changes nothing: its key is there since the provider's client has one on every POST.
    const { total, currency } = await payment.write(
      "preview invoice",
      `preview.${crypto.randomUUID()}`,
      (client, options) => client.invoices.createPreview(asked, options),
    );
    return { total, currency };
  }

  return {
    async quoteNow({ id, customer }, items, now) {
      const at = Math.max(now, periodStart(await read(id)));
      const subscription_details = {
        items: rows(items),
        proration_behavior: "always_invoice" as const,
        proration_date: at,
      };
      return { ...(await preview({ customer, subscription: id, subscription_details })), at };
    },

    quoteRecurring: ({ id, customer }, items) =>
      preview({
        customer,
        subscription: id,
        preview_mode: "recurring",
        ...(items.length === 0 ? {} : { subscription_details: { items: rows(items) } }),
      }),

    async upgrade(facts, items, at, work) {
      const before = await read(facts.id);
      if (at !== null && at < periodStart(before)) {
        throw new Problem("stale_preview", "The preview is of a period that is over: ask for another one");
      }
      const kept = keeping(before);
      const asked = {
        items: rows(items),
        proration_behavior: "always_invoice" as const,
        payment_behavior: "pending_if_incomplete" as const,
        ...(at === null ? {} : { proration_date: at }),
        // Part of what waits for the payment. A date of its own cannot be, and is taken back once the rest is paid.
        ...(kept !== null && "cancel_at_period_end" in kept ? kept : {}),
        expand: ["latest_invoice"],
      };
      const key = stepKey(work, "upgrade", [facts.id, asked]);
      const updated = await payment.write("upgrade subscription", key, (client, options) =>
        client.subscriptions.update(facts.id, asked, options),
      );
      const isPending = updated.pending_update !== null;
      if (!isPending && kept !== null && "cancel_at" in kept) await update(facts, "keep", kept, work);
      const invoice = updated.latest_invoice;
      if (invoice === null || typeof invoice === "string") return { isPending, invoice: null };
      const isNew = invoice.id !== before.latest_invoice;
      if (!isNew && !isPending) return { isPending, invoice: null };
      return {
        isPending,
        invoice: { id: invoice.id, total: invoice.total, hostedUrl: invoice.hosted_invoice_url ?? null },
      };
    },

    reduce: (facts, items, work) =>
      update(facts, "reduce", { items: rows(items), proration_behavior: "create_prorations" }, work),

    async schedule(facts, shape, work) {
      const { id, schedule } = facts;
      // A repetition has just let go of the schedule that the first one made: it makes another one.
      const made = await payment.write(
        "create schedule",
        stepKey(work, "schedule", [id, schedule]),
        (client, options) => client.subscriptionSchedules.create({ from_subscription: id }, options),
      );
      const current = made.phases.find(({ start_date }) => start_date === made.current_phase?.start_date);
      if (current === undefined) throw new PaymentFailure("failed", "create schedule");
      const now = current.items.map(({ price, quantity = 1 }) => ({ price: idOf(price), quantity }));
      const others = now.filter(({ price }) => price !== facts.basePrice && price !== facts.seatPrice);
      const discounts = current.discounts.flatMap(({ discount }) =>
        discount === null ? [] : { discount: idOf(discount) },
      );
      const shared = discounts.length === 0 ? {} : { discounts };
      const asked = {
        end_behavior: "release" as const,
        phases: [
          { items: now, start_date: current.start_date, end_date: current.end_date, ...shared },
          {
            items: linesOf(facts, shape, others).map((line) => ({ ...line })),
            duration: { interval: shape.interval, interval_count: 1 },
            proration_behavior: "none" as const,
            ...shared,
          },
        ],
      };
      await payment.write("set schedule", stepKey(work, "phases", [made.id, asked]), (client, options) =>
        client.subscriptionSchedules.update(made.id, asked, options),
      );
    },

    cancelAtPeriodEnd: (facts, work) => update(facts, "cancel", { cancel_at_period_end: true }, work),

    async release({ schedule }, work) {
      if (schedule === null) return;
      await payment.write("release schedule", stepKey(work, "release", schedule), (client, options) =>
        client.subscriptionSchedules.release(schedule, {}, options),
      );
    },

    async keep(facts, work) {
      if (facts.pending?.tier !== "free") return;
      const kept = keeping(await read(facts.id));
      if (kept !== null) await update(facts, "keep", kept, work);
    },
  };
}

/** When the period began in which a proration may lie, Unix seconds. */
const periodStart = ({ items }: { readonly items: { readonly data: readonly { current_period_start: number }[] } }) =>
  Math.max(0, ...items.data.map(({ current_period_start }) => current_period_start));

/** How it is taken back that a subscription ends; null: it does not. */
function keeping({
  cancel_at_period_end,
  cancel_at,
}: {
  readonly cancel_at_period_end: boolean;
  readonly cancel_at: number | null;
}): { readonly cancel_at_period_end: false } | { readonly cancel_at: "" } | null {
  if (cancel_at_period_end) return { cancel_at_period_end: false };
  return cancel_at === null ? null : { cancel_at: "" };
}

interface PreviewAsked {
  readonly customer: string;
  readonly subscription: string;
  readonly preview_mode?: "recurring";
  readonly subscription_details?: {
    items: ItemChange[];
    proration_behavior?: "always_invoice";
    proration_date?: number;
  };
}

/** Of what is there as an object or as its id. */
const idOf = (value: string | { readonly id: string }): string => (typeof value === "string" ? value : value.id);
