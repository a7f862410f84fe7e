/** Whatever order a history of the provider comes in, how often, and what of it is lost: the end is the same. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Cause, differs, hear, isPlainlyPaid, paidAt } from "../../../actors/billing/events.ts";
import { graceEndsAt, type Subscription, subscriptionsOf, tierInForce } from "../../../actors/billing/standing.ts";
import type { Facts } from "../../../actors/billing/subscription.ts";

const day = 86_400;
const start = 1_800_000_000;

/** What may happen to a subscription; a step that makes no sense where it stands is left out. */
const step = fc.record({
  subscription: fc.constantFrom("sub_a", "sub_b"),
  act: fc.constantFrom("change", "change", "fail", "fail", "decline", "pay", "cancel", "schedule"),
  // Several things happen within one second.
  later: fc.constantFrom(0, 0, 1, 40, 2 * day, 9 * day),
  tier: fc.constantFrom("pro", "business", "enterprise"),
  seats: fc.nat(4),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Event {
  readonly subscription: string;
  readonly at: number;
  readonly told:
    | { readonly facts: Facts; readonly isDeletion: boolean }
    | { readonly cause: Cause; readonly invoice: string };
  /** How many events there were when it was made. */
  readonly order: number;
}

interface Provided {
  readonly facts: Facts;
  readonly invoice: string;
  /** Of the invoice that is open. */
  readonly failedAt: number | null;
}

/** What the provider has at a point of its history. */
interface Answer {
  readonly at: number;
  readonly subscriptions: ReadonlyMap<string, Provided>;
}

/** The provider: its events, and what it answered at each point of its history. */
function provider(steps: readonly Step[]) {
  const subscriptions = new Map<string, Provided>();
  const events: Event[] = [];
  const answers: Answer[] = [];
  let at = start;
  const paid = new Map<string, number>();
  const keep = () => answers.push({ at, subscriptions: new Map(subscriptions) });
  const tell = (subscription: string, told: Event["told"]) => {
    events.push({ subscription, at, told, order: events.length });
    keep();
  };
  const change = (id: string, to: Partial<Facts>, rest: Partial<Provided> = {}, isDeletion = false) => {
    const before = subscriptions.get(id) ?? fresh(id, at);
    subscriptions.set(id, { ...before, ...rest, facts: { ...before.facts, ...to } });
    const { facts } = subscriptions.get(id) ?? before;
    tell(id, { facts, isDeletion });
  };
  keep();
  for (const [number, { subscription: id, act, later, tier, seats }] of steps.entries()) {
    at += later;
    // A payment is not followed by another failure within its second.
    if (act === "fail" && paid.get(id) === at) at += 1;
    const now = subscriptions.get(id);
    const invoice = `in_${number}`;
    if (now === undefined) {
      change(id, { status: "incomplete", tier }, { invoice });
      change(id, { status: "active" });
      tell(id, { cause: "completed", invoice });
    } else if (now.facts.status === "canceled") continue;
    else if (act === "change") change(id, { tier, extraSeats: seats });
    else if (act === "schedule") change(id, { schedule: invoice, pending: { tier: "pro", at: at + 30 * day } });
    else if (act === "cancel") change(id, { status: "canceled", pending: null, cancelAtPeriodEnd: false }, {}, true);
    else if (act === "pay") {
      paid.set(id, at);
      if (now.facts.status === "past_due") change(id, { status: "active" }, { failedAt: null });
      tell(id, { cause: "paid", invoice: now.invoice });
    } else if (act === "decline") {
      // A change that was not paid does not happen.
      if (now.facts.status === "active") tell(id, { cause: "failed", invoice: `${invoice}_change` });
    } else if (now.facts.status === "past_due") tell(id, { cause: "failed", invoice: now.invoice });
    else {
      change(id, { status: "past_due" }, { invoice, failedAt: at });
      tell(id, { cause: "failed", invoice });
    }
  }
  return { events, answers, end: at };
}

const fresh = (id: string, at: number): Provided => ({
  invoice: "in_0",
  failedAt: null,
  facts: {
    id,
    customer: "cus_1",
    created: at,
    status: "incomplete",
    tier: "pro",
    interval: "month",
    baseItem: "si_1",
    basePrice: "price_1",
    seatItem: null,
    seatPrice: null,
    includedSeats: 0,
    extraSeats: 0,
    periodEnd: at + 30 * day,
    cancelAtPeriodEnd: false,
    schedule: null,
    pending: null,
  },
});

type Known = Map<string, Subscription>;

/** What the service does with one event while the provider has come to a point of its history. */
function take(known: Known, { subscription: id, at, told }: Event, asked: Answer): boolean {
  const before = known.get(id) ?? null;
  let hasAsked = false;
  const ask = (cause: Cause | "doubt", invoice: string | null, said: string | null) => {
    hasAsked = true;
    const found = asked.subscriptions.get(id);
    if (found === undefined) throw new Error("an event came before what it is about");
    const isOpenFailure = invoice === found.invoice;
    const read = { readAt: asked.at, facts: found.facts };
    const heard = hear(before, { by: "provider", at, ...read, said, cause, isOpenFailure });
    if (heard.outcome !== "ask") known.set(id, heard.subscription);
  };
  if (!("facts" in told)) {
    if (told.cause === "paid" && isPlainlyPaid(before)) known.set(id, paidAt(before, at));
    else ask(told.cause, told.invoice, null);
    return hasAsked;
  }
  const heard = hear(before, { by: "event", at, ...told });
  if (heard.outcome === "ask") ask("doubt", null, told.facts.status);
  else known.set(id, heard.subscription);
  return hasAsked;
}

function compare(known: Known, asked: ReadonlyMap<string, Provided>, at: number): void {
  for (const [id, { facts, failedAt }] of asked) {
    const heard = hear(known.get(id) ?? null, { by: "comparison", at, facts, firstFailure: failedAt });
    if (heard.outcome !== "ask") known.set(id, heard.subscription);
  }
}

/** All that is in force or shown, at several moments. */
function stateOf(known: Known, end: number) {
  const all = [...known.values()].sort((a, b) => (a.facts.id < b.facts.id ? -1 : 1));
  const moments = [end, end + 3 * day, end + 8 * day];
  return {
    facts: all.map(({ facts }) => facts),
    grace: all.map(graceEndsAt),
    tiers: moments.map((now) => all.map((one) => tierInForce(one, now))),
    tenant: moments.map((now) => {
      const { tier, shown, live } = subscriptionsOf(all, false, now);
      return { tier, shown: shown?.facts.id, live };
    }),
  };
}

const steps = fc.array(step, { minLength: 1, maxLength: 14 });
/** For each event: whether it is lost, and after how many later ones each of its deliveries comes. */
const deliveries = fc.array(
  fc.record({ isLost: fc.boolean(), delays: fc.array(fc.nat(12), { minLength: 1, maxLength: 3 }) }),
  { minLength: 60, maxLength: 60 },
);

/** Events as they come: each with the point of the provider's history at which it does. */
function delivered(events: readonly Event[], plan: readonly { isLost: boolean; delays: number[] }[], loses: boolean) {
  return events
    .flatMap((event, index) => {
      const { isLost, delays } = plan[index % plan.length] ?? { isLost: false, delays: [0] };
      if (loses && isLost) return [];
      return delays.map((delay, nth) => ({ event, when: event.order + 1 + delay, nth: nth + index * 7 }));
    })
    .sort((a, b) => a.when - b.when || (a.nth % 5) - (b.nth % 5));
}

function run(taken: readonly Step[], plan: readonly { isLost: boolean; delays: number[] }[], loses: boolean) {
  const { events, answers, end } = provider(taken);
  const known: Known = new Map();
  const last = answers.at(-1) ?? { at: end, subscriptions: new Map() };
  /** Points of the history at which a subscription was read. */
  const read = new Map<string, number>();
  for (const { event, when } of delivered(events, plan, loses)) {
    const id = event.subscription;
    const point = Math.min(when, answers.length - 1);
    if (take(known, event, answers[point] ?? last)) read.set(id, point);
    const since = answers.slice(read.get(id) ?? 0).map(({ subscriptions }) => subscriptions.get(id)?.facts);
    expect(since).toContainEqual(known.get(id)?.facts);
  }
  return { known, last: last.subscriptions, end, events };
}

const inOrder = (events: readonly Event[], subscriptions: ReadonlyMap<string, Provided>, at: number): Known => {
  const known: Known = new Map();
  for (const event of events) take(known, event, { at, subscriptions });
  return known;
};

test("any order and repetition of a history ends in the same state", () => {
  fc.assert(
    fc.property(steps, deliveries, (taken, plan) => {
      const { known, last, end, events } = run(taken, plan, false);
      const expected = inOrder(events, last, end);
      expect(stateOf(known, end)).toEqual(stateOf(expected, end));
      expect([...known.values()].map(({ facts }) => facts)).toEqual(
        expect.arrayContaining([...last.values()].map(({ facts }) => facts)),
      );
    }),
    { numRuns: 600 },
  );
});

test("a history of which events were lost ends in the same state once it is compared", () => {
  fc.assert(
    fc.property(steps, deliveries, (taken, plan) => {
      const lossless = run(taken, plan, false);
      const { known, last, end } = run(taken, plan, true);
      compare(known, last, end + 7 * day);
      compare(lossless.known, last, end + 7 * day);
      expect(stateOf(known, end)).toEqual(stateOf(lossless.known, end));
    }),
    { numRuns: 600 },
  );
});

test("a comparison finds no difference where nothing was lost", () => {
  fc.assert(
    fc.property(steps, deliveries, (taken, plan) => {
      const { known, last, end } = run(taken, plan, false);
      for (const [id, { facts, failedAt }] of last) {
        const before = known.get(id) ?? null;
        const heard = hear(before, { by: "comparison", at: end + 601, facts, firstFailure: failedAt });
        if (heard.outcome !== "applied") throw new Error("a comparison is applied");
        expect(differs(before, heard.subscription, end + 601)).toBe(false);
      }
    }),
    { numRuns: 300 },
  );
});
