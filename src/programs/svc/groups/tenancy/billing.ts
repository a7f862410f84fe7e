/** `svc billing`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { once } from "../../frame/body.ts";
import { addList } from "../../frame/list.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";

const most = 100;

/** @param amount in the currency's smallest unit */
const money = (amount: number, currency: string): string => {
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
};
const priced = (price: { readonly amount: number; readonly currency: string } | null) =>
  price === null ? null : money(price.amount, price.currency);

export function billing(group: Command): void {
  addVerb(group, {
    words: "show",
    summary: "Show what the tenant has subscribed",
    examples: [["svc billing show", "Tier, seats and period"]],
    async run({ out, client }) {
      const subscription = await answer((await client()).GET("/v1/billing/subscription"));
      await out.data(subscription);
      out.record<Schemas["BillingSubscription"]>(
        [
          { name: "tenant", value: ({ tenant_id }) => tenant_id },
          { name: "tier", value: ({ tier }) => tier },
          { name: "status", value: ({ status }) => status, kind: "status" },
          { name: "seats", value: ({ seat_count }) => seat_count },
          { name: "paid", value: ({ billing_interval }) => billing_interval },
          { name: "period ends", value: ({ current_period_end }) => current_period_end, kind: "time" },
          { name: "ends then", value: ({ cancel_at_period_end }) => (cancel_at_period_end ? true : null) },
          { name: "changes to", value: ({ pending_change }) => pending_change?.target_tier },
        ],
        subscription,
      );
    },
  });
  addList(group, {
    words: "invoices",
    summary: "List invoices, newest first",
    async page({ client }, query) {
      const params = { query: { ...query, limit: Math.min(most, query.limit) } };
      return answer((await client()).GET("/v1/billing/invoices", { params }));
    },
    columns: [
      { name: "id", value: ({ id }) => id },
      { name: "created", value: ({ created }) => created, kind: "time" },
      { name: "amount", value: ({ amount, currency }) => money(amount, currency) },
      { name: "status", value: ({ status }) => status, kind: "status" },
      { name: "pdf", value: ({ pdf_url }) => pdf_url },
    ],
    empty: "There are no invoices.",
    examples: [["svc billing invoices --columns created,amount,pdf", "For the books"]],
  });
  addList(group, {
    words: "prices",
    summary: "List the tiers that are sold",
    page: async ({ client }) => ({ items: (await answer((await client()).GET("/v1/billing/prices"))).tiers }),
    columns: [
      { name: "tier", value: ({ tier }) => tier },
      { name: "monthly", value: ({ monthly }) => priced(monthly) },
      { name: "annual", value: ({ annual }) => priced(annual) },
      { name: "seats", value: ({ included_seats }) => included_seats },
      { name: "seat-monthly", value: ({ seat_monthly }) => priced(seat_monthly) },
      { name: "description", value: ({ description }) => description },
    ],
    empty: "No tier is sold here.",
    examples: [["svc billing prices", "What an upgrade costs"]],
  });
  addVerb(group, {
    words: "portal",
    summary: "Print the address where plan and card are changed",
    examples: [["svc billing portal", "Open it in a browser"]],
    async run({ out, client }) {
      const made = await answer((await client()).POST("/v1/billing/portal", { params: { header: once() }, body: {} }));
      await out.data(made);
      out.line(say`${made.url}`);
    },
  });
}
