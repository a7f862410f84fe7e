/** Test clocks: time that a test moves, with everything that comes due on the way. */
import type { Stripe } from "stripe";
import type { Account } from "../account.ts";
import { advance } from "../time.ts";
import { invalid, noSuch } from "../wire/errors.ts";
import { listed, listParams } from "../wire/lists.ts";
import type { Params } from "../wire/params.ts";
import type { Endpoint } from "../wire/server.ts";
import type { Checkouts } from "./checkout.ts";
import { end } from "./subscriptions/subscription.ts";

type Clock = Stripe.TestHelpers.TestClock;

export function clocks(account: Account, sessions: Pick<Checkouts, "expire">): readonly Endpoint[] {
  function clockOf(id: string): Clock {
    const clock = account.clocks.get(id);
    if (clock === undefined) throw noSuch("test clock", id);
    return clock;
  }

  function create(params: Params): Clock {
    const frozen = params.integer("frozen_time");
    if (frozen === null) throw invalid("Missing required param: frozen_time.", "frozen_time", "parameter_missing");
    const now = account.now();
    const clock: Clock = {
      id: account.newId("clock"),
      object: "test_helpers.test_clock",
      created: now,
      deletes_after: now + 30 * 86_400,
      frozen_time: frozen,
      livemode: false,
      name: params.text("name"),
      status: "ready",
      status_details: {},
    };
    account.clocks.set(clock.id, clock);
    return clock;
  }

  function advanced(params: Params, id: string): Clock {
    const clock = clockOf(id);
    const to = params.integer("frozen_time") ?? 0;
    if (to <= clock.frozen_time) throw invalid("You can only advance a test clock into the future.", "frozen_time");
    const isOnIt = (customer: string) => account.customers.get(customer)?.test_clock === id;
    advance(account, sessions, to, isOnIt, (at) => {
      clock.frozen_time = at;
    });
    account.emit("test_helpers.test_clock.ready", clock);
    return clock;
  }

  function remove(_params: Params, id: string) {
    clockOf(id);
    for (const customer of [...account.customers.values()].filter(({ test_clock }) => test_clock === id)) {
      endAll(account, customer.id);
      account.customers.delete(customer.id);
    }
    account.clocks.delete(id);
    return { id, object: "test_helpers.test_clock", deleted: true };
  }

  return [
    { method: "POST", path: "/v1/test_helpers/test_clocks", accepts: ["frozen_time", "name"], run: create },
    {
      method: "GET",
      path: "/v1/test_helpers/test_clocks",
      accepts: listParams,
      run: (params) => listed("/v1/test_helpers/test_clocks", [...account.clocks.values()], params),
    },
    { method: "GET", path: "/v1/test_helpers/test_clocks/:id", accepts: [], run: (_params, id) => clockOf(id) },
    {
      method: "POST",
      path: "/v1/test_helpers/test_clocks/:id/advance",
      accepts: ["frozen_time"],
      run: advanced,
    },
    { method: "DELETE", path: "/v1/test_helpers/test_clocks/:id", accepts: [], run: remove },
  ];
}

/** Every subscription of a customer that is deleted. */
export function endAll(account: Account, customer: string): void {
  for (const subscription of account.subscriptions.values()) {
    if (subscription.customer === customer && subscription.ended_at === null) {
      end(account, subscription, "cancellation_requested");
    }
  }
}
