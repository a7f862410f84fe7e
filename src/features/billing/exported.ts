/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  billing_customers: {
    columns: "customer_id created_at checked_at",
  },
  billing_subscriptions: {
    columns: [
      "subscription_id customer_id created_at status tier billing_interval included_seats extra_seats",
      "current_period_end cancel_at_period_end pending_tier pending_at grace_ends_at is_live updated_at",
    ].join(" "),
    withheld: {
      "base_item_id base_price_id seat_item_id seat_price_id schedule_id applied_event_at failed_at in_order_at revision read_at":
        "the payment provider's side of it, and how it is kept in step",
    },
  },
  billing_events: "messages of the payment provider, which has them",
  billing_turns: "whose turn it is at the payment provider",
};
