/** What may be asked of subscriptions. */
import type { Account } from "../../account.ts";
import type { Subscription } from "../../shapes.ts";
import { invalid, noSuch } from "../../wire/errors.ts";
import { listed, listParams } from "../../wire/lists.ts";
import type { Params } from "../../wire/params.ts";
import type { Endpoint } from "../../wire/server.ts";
import { customerOf } from "../customers.ts";
import { update } from "./change.ts";
import { begin, end, wantedOf } from "./subscription.ts";

export function subscriptionOfId(account: Account, id: string, param = "id"): Subscription {
  const subscription = account.subscriptions.get(id);
  if (subscription === undefined) throw noSuch("subscription", id, param);
  return subscription;
}

/** Statuses that a list without `status` leaves out. */
const ended: readonly string[] = ["canceled", "incomplete_expired"];

export function subscriptions(account: Account): readonly Endpoint[] {
  function create(params: Params): Subscription {
    const customer = customerOf(account, params.requireText("customer"), "customer").id;
    const items = wantedOf(account, params.objects("items") ?? [], ["price", "quantity"]);
    return begin(account, { customer, items, metadata: params.metadata() });
  }

  function list(params: Params) {
    const customer = params.text("customer");
    const status = params.text("status");
    const rows = [...account.subscriptions.values()].filter(
      (row) =>
        (customer === null || row.customer === customer) &&
        (status === "all" || (status === null ? !ended.includes(row.status) : row.status === status)),
    );
    return listed("/v1/subscriptions", rows, params);
  }

  function cancel(_params: Params, id: string): Subscription {
    const subscription = subscriptionOfId(account, id);
    if (subscription.status === "canceled") throw invalid(`No such subscription: '${id}'`, "id", "resource_missing");
    end(account, subscription, "cancellation_requested");
    return subscription;
  }

  return [
    { method: "POST", path: "/v1/subscriptions", accepts: ["customer", "items", "metadata"], run: create },
    { method: "GET", path: "/v1/subscriptions", accepts: [...listParams, "customer", "status"], run: list },
    { method: "GET", path: "/v1/subscriptions/:id", accepts: [], run: (_params, id) => subscriptionOfId(account, id) },
    {
      method: "POST",
      path: "/v1/subscriptions/:id",
      accepts: [
        "items",
        "metadata",
        "cancel_at_period_end",
        "cancel_at",
        "proration_behavior",
        "proration_date",
        "payment_behavior",
      ],
      run: (params, id) => update(account, subscriptionOfId(account, id), params),
    },
    { method: "DELETE", path: "/v1/subscriptions/:id", accepts: ["invoice_now", "prorate"], run: cancel },
  ];
}
