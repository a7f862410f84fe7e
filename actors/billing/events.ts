/** Which event of the provider does what, and what becomes of a subscription by it. Pure. */
import type { Json } from "../kernel/json.ts";
import type { Metadata } from "./catalogue.ts";
import { count, fields, idOf, metadata, name } from "./read.ts";
import { isOver, type Subscription, tierInForce } from "./standing.ts";
import { type Facts, readSubscription, type Seen } from "./subscription.ts";

/** An event, as far as it is the same for all. */
export interface ProviderEvent {
  readonly id: string;
  readonly type: string;
  /** When the provider made it, Unix seconds. */
  readonly at: number;
  /** What it is about. */
  readonly object: Json;
}

/** Null: this is no event. */
export function readEvent(value: unknown): ProviderEvent | null {
  const given = fields(value);
  const [id, type, at] = [name(given.id), name(given.type), count(given.created)];
  if (id === null || type === null || at === null) return null;
  return { id, type, at, object: fields(given.data).object ?? null };
}

/** Whom an event is about, by all that may tell it. */
export interface Subject {
  readonly subscription: string | null;
  readonly customer: string | null;
  /** As it was written when the object was made; null: not said. */
  readonly metadataTenant: string | null;
  readonly reference: string | null;
}

/** What is to be done for an event. */
export type Task =
  /** It brings the subscription as it stood then. */
  | { readonly task: "apply"; readonly subject: Subject; readonly seen: Seen; readonly isDeletion: boolean }
  /** It says that something happened to a subscription, which is read at the provider. */
  | {
      readonly task: "read";
      readonly subject: Subject;
      readonly subscription: string;
      readonly cause: Cause;
      /** Of a payment. */
      readonly invoice: string | null;
    }
  | { readonly task: "ignore" };

/** `completed`: a checkout was paid; `failed`, `paid`: an invoice. */
export type Cause = "completed" | "failed" | "paid";

const ignored: Task = { task: "ignore" };

const embedded = new Set(
  ["created", "updated", "paused", "resumed", "deleted"].map((end) => `customer.subscription.${end}`),
);
const causes: Readonly<Record<string, Cause>> = {
  "checkout.session.completed": "completed",
  "invoice.payment_failed": "failed",
  "invoice.paid": "paid",
};

/** Whether events of the type do something; all others are stored and no more. */
export const isHeeded = (type: string): boolean => embedded.has(type) || type in causes;

/** What an event asks for. One that lacks what its type has to have asks for nothing. */
export function taskOf({ type, object }: ProviderEvent): Task {
  if (embedded.has(type)) {
    const seen = readSubscription(object);
    if (seen === null) return ignored;
    const { id, customer, metadata: said } = seen;
    const subject = { subscription: id, customer, metadataTenant: tenantIn(said), reference: null };
    return { task: "apply", subject, seen, isDeletion: type === "customer.subscription.deleted" };
  }
  const cause = Object.hasOwn(causes, type) ? causes[type] : undefined;
  if (cause === undefined) return ignored;
  const { subscription, said, reference } = cause === "completed" ? ofSession(object) : ofInvoice(object);
  if (subscription === null) return ignored;
  const subject = { subscription, customer: idOf(fields(object).customer), metadataTenant: tenantIn(said), reference };
  const invoice = cause === "completed" ? null : idOf(object);
  return { task: "read", subject, subscription, cause, invoice };
}

const tenantIn = ({ tenant_id }: Metadata): string | null => tenant_id ?? null;

interface Named {
  readonly subscription: string | null;
  readonly said: Metadata;
  readonly reference: string | null;
}

function ofSession(object: Json): Named {
  const { subscription, metadata: said, client_reference_id } = fields(object);
  return { subscription: idOf(subscription), said: metadata(said), reference: name(client_reference_id) };
}

/** An invoice names its subscription in one of two places, depending on the version of the provider's API. */
function ofInvoice(object: Json): Named {
  const { subscription, subscription_details, parent, metadata: own } = fields(object);
  const details = fields(fields(parent).subscription_details ?? subscription_details);
  const said = { ...metadata(own), ...metadata(details.metadata) };
  return { subscription: idOf(details.subscription) ?? idOf(subscription), said, reference: null };
}

/** What was told of a subscription. */
export type Told =
  /** By an event, as it stood then. */
  | { readonly by: "event"; readonly at: number; readonly facts: Facts; readonly isDeletion: boolean }
  /**
   * By the provider, asked for it.
   * @member at           of the event that it was asked for; null: for another reason
   * @member readAt       before it was asked, by this service's clock
   * @member said         status that the event itself told; null: none
   * @member isOpenFailure whether the payment that failed is of what the subscription still waits for: it may have been
   *   that of a change which did not happen
   */
  | {
      readonly by: "provider";
      readonly at: number | null;
      readonly readAt: number;
      readonly facts: Facts;
      readonly said: string | null;
      readonly cause: Cause | "doubt";
      readonly isOpenFailure: boolean;
    }
  /**
   * By the provider, asked for all of its subscriptions.
   * @member at           Unix seconds before it was asked
   * @member firstFailure of the payments that are open; null: not known
   */
  | { readonly by: "comparison"; readonly at: number; readonly facts: Facts; readonly firstFailure: number | null };

export type Heard =
  | { readonly outcome: "applied"; readonly subscription: Subscription }
  /** What was told is older than what is known. What it says of payments counts all the same. */
  | { readonly outcome: "stale"; readonly subscription: Subscription }
  /** Only the provider can tell what came last. */
  | { readonly outcome: "ask" };

/** A comparison tells of what happened until so long before it: the clocks of two machines differ by less. */
const clockMargin = 600;
/** An event may be older than what was read at the provider so long before its time, for the same reason, seconds. */
const readMargin = 60;

/**
 * What becomes of a subscription.
 * @param known null: it was never heard of
 */
export function hear(known: Subscription | null, told: Told): Heard {
  if (told.by === "comparison") return { outcome: "applied", subscription: compared(known, told) };
  const subscription = withPayments(known, told);
  if (told.by === "provider") {
    // Its end was told, and nothing brings it back.
    if (known !== null && isOver(known.facts) && !isOver(told.facts)) return { outcome: "stale", subscription };
    return {
      outcome: "applied",
      subscription: { ...subscription, facts: told.facts, appliedAt: newest(known, told.at), readAt: told.readAt },
    };
  }
  const { facts, at } = told;
  if (told.isDeletion) {
    const ended: Facts = { ...facts, status: "canceled", pending: null, cancelAtPeriodEnd: false };
    return { outcome: "applied", subscription: { ...subscription, facts: ended, appliedAt: newest(known, at) } };
  }
  const last = known?.appliedAt ?? null;
  if ((known !== null && isOver(known.facts)) || (last !== null && at < last))
    return { outcome: "stale", subscription };
  if (at === last || isBehindRead(known, facts, at)) return { outcome: "ask" };
  return { outcome: "applied", subscription: { ...subscription, facts, appliedAt: at } };
}

/** Whether an event may be older than what was read since: then it must not take its place. */
const isBehindRead = (known: Subscription | null, facts: Facts, at: number): boolean =>
  known !== null && known.readAt !== null && at <= known.readAt + readMargin && !isSame(known.facts, facts);

/** Whether an event about a paid invoice needs the provider: what is in order stays so. */
export const isPlainlyPaid = (known: Subscription | null): known is Subscription =>
  known !== null && (known.facts.status === "active" || known.facts.status === "trialing" || isOver(known.facts));

/** What is known of a subscription in order, once an invoice of it was paid. */
export const paidAt = (known: Subscription, at: number): Subscription => ({
  ...known,
  inOrderAt: Math.max(known.inOrderAt ?? 0, behind(at)),
});

/** A payment makes good a failure of the same second. */
const behind = (paidAt: number): number => paidAt + 1;

const newest = (known: Subscription | null, at: number | null): number | null => {
  const last = known?.appliedAt ?? null;
  return at === null || last === null ? (last ?? at) : Math.max(last, at);
};

/** More failures than this of one subscription without a payment are not told apart. */
const maxFailures = 64;

/** What is told of payments counts by its own time, not by the order in which it comes. */
function withPayments(known: Subscription | null, told: Exclude<Told, { by: "comparison" }>): Subscription {
  const { facts, at } = told;
  const { failedAt = [], inOrderAt = null, appliedAt = null, readAt = null } = known ?? {};
  const before = { facts: known?.facts ?? facts, appliedAt, readAt, failedAt, inOrderAt };
  if (at === null) return before;
  const said = told.by === "event" ? facts.status : told.said;
  if (told.by === "provider" && told.cause === "paid")
    return { ...before, inOrderAt: Math.max(inOrderAt ?? 0, behind(at)) };
  if (said === "active" || said === "trialing") return { ...before, inOrderAt: Math.max(inOrderAt ?? 0, at) };
  const isFailure = told.by === "provider" && told.cause === "failed" && told.isOpenFailure;
  return said === "past_due" || (isFailure && facts.status === "past_due")
    ? { ...before, failedAt: withFailure(failedAt, at) }
    : before;
}

/** The first one counts, and those that are first once a payment is heard of. */
function withFailure(known: readonly number[], at: number): readonly number[] {
  const all = [...new Set([...known, at])].sort((a, b) => a - b);
  return all.length > maxFailures ? [...all.slice(0, 1), ...all.slice(1 - maxFailures)] : all;
}

function compared(known: Subscription | null, told: Extract<Told, { by: "comparison" }>): Subscription {
  const { facts, firstFailure } = told;
  const { failedAt = [], inOrderAt = null, appliedAt = null } = known ?? {};
  const until = told.at - clockMargin;
  const isInOrder = facts.status === "active" || facts.status === "trialing";
  const counts = failedAt.filter((at) => inOrderAt === null || at >= inOrderAt);
  const found = firstFailure ?? counts[0] ?? told.at;
  return {
    facts,
    appliedAt: Math.max(appliedAt ?? 0, until),
    readAt: told.at,
    failedAt: facts.status === "past_due" ? [found] : failedAt,
    // The failure that was found counts, also where something else was heard of payments.
    inOrderAt: isInOrder ? Math.max(inOrderAt ?? 0, until) : facts.status === "past_due" ? null : inOrderAt,
  };
}

/**
 * Whether a comparison found what events had not told: something that is in force, or shown.
 * @param now Unix seconds
 */
export function differs(known: Subscription | null, found: Subscription, now: number): boolean {
  if (known === null) return !isOver(found.facts);
  if (tierInForce(known, now) !== tierInForce(found, now)) return true;
  return !isSame(known.facts, found.facts);
}

function isSame({ pending, ...facts }: Facts, other: Facts): boolean {
  if (pending?.tier !== other.pending?.tier || pending?.at !== other.pending?.at) return false;
  return (Object.keys(facts) as (keyof typeof facts)[]).every((member) => facts[member] === other[member]);
}
