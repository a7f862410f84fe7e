/** Sessions of the provider's portal, and events of meters. */
import type { Account } from "../account.ts";
import { ApiError, invalid } from "../wire/errors.ts";
import type { Params } from "../wire/params.ts";
import type { Endpoint } from "../wire/server.ts";
import { customerOf } from "./customers.ts";

/** How long the identifier of a meter's event is known, seconds. */
const uniqueSeconds = 24 * 3600;
/** How old and how far ahead the time of a meter's event may be, seconds. */
const oldestSeconds = 35 * 86_400;
const aheadSeconds = 300;

export function portal(account: Account): readonly Endpoint[] {
  return [
    {
      method: "POST",
      path: "/v1/billing_portal/sessions",
      accepts: ["customer", "return_url"],
      run(params) {
        const customer = customerOf(account, params.requireText("customer"), "customer").id;
        const id = account.newId("bps");
        const session = {
          id,
          object: "billing_portal.session" as const,
          configuration: "bpc_default",
          created: account.now(customer),
          customer,
          customer_account: null,
          flow: null,
          livemode: false,
          locale: null,
          on_behalf_of: null,
          return_url: params.text("return_url"),
          url: `https://portal.provider.test/p/session/${id}`,
        };
        account.portals.set(id, session);
        return session;
      },
    },
  ];
}

export function meters(account: Account): readonly Endpoint[] {
  function create(params: Params) {
    const now = account.now();
    const payload = params.object("payload");
    const timestamp = params.integer("timestamp") ?? now;
    if (timestamp < now - oldestSeconds || timestamp > now + aheadSeconds) {
      throw invalid("The timestamp is out of range.", "timestamp");
    }
    const identifier = params.text("identifier") ?? account.newId("mtr");
    const former = account.meterEvents.get(identifier);
    if (former !== undefined && now - former.created < uniqueSeconds) {
      throw new ApiError(400, {
        type: "invalid_request_error",
        code: "duplicate_meter_event",
        message: `An event already exists with identifier ${identifier}.`,
      });
    }
    const customer = payload?.requireText("stripe_customer_id") ?? "";
    customerOf(account, customer, "payload[stripe_customer_id]");
    const event = {
      object: "billing.meter_event" as const,
      created: now,
      event_name: params.requireText("event_name"),
      identifier,
      livemode: false,
      payload: { stripe_customer_id: customer, value: payload?.requireText("value") ?? "" },
      timestamp,
    };
    account.meterEvents.set(identifier, event);
    return event;
  }
  return [
    {
      method: "POST",
      path: "/v1/billing/meter_events",
      accepts: ["event_name", "payload", "identifier", "timestamp"],
      run: create,
    },
  ];
}
