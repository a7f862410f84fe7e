/** What a tenant has of its subscriptions: which counts, until when, and whether something is wrong with them. Pure. */
import type { Tier } from "../identity/identity.ts";
import { rankOf } from "./catalogue.ts";
import type { Facts } from "./subscription.ts";

/** What is kept of a subscription: what it gives, and what is known of its payments. Times are Unix seconds. */
export interface Subscription {
  readonly facts: Facts;
  /** When the newest event that was applied was made; null: none was. */
  readonly appliedAt: number | null;
  /** When the provider was last asked for it, by this service's clock; null: it never was. */
  readonly readAt: number | null;
  /** When payments failed, ascending. */
  readonly failedAt: readonly number[];
  /** Failures before it are over: it was in order then; null: never. */
  readonly inOrderAt: number | null;
}

/** How long a subscription whose payment failed still gives its tier, seconds. */
const graceSeconds = 7 * 86_400;

/**
 * Until when a past due subscription gives its tier, Unix seconds; null: it is not past due. The grace begins with the
 * first failure behind the last payment, and where none is known with the last event.
 */
export function graceEndsAt({ facts, failedAt, inOrderAt, appliedAt }: Subscription): number | null {
  if (facts.status !== "past_due") return null;
  const first = failedAt.find((at) => inOrderAt === null || at >= inOrderAt);
  return (first ?? appliedAt ?? facts.created) + graceSeconds;
}

/** @param now Unix seconds */
export function tierInForce(subscription: Subscription, now: number): Tier {
  const { status, tier } = subscription.facts;
  if (tier === null) return "free";
  if (status === "active" || status === "trialing") return tier;
  const endsAt = graceEndsAt(subscription);
  return endsAt !== null && now < endsAt ? tier : "free";
}

/** People it has room for, the owner counted. */
export const seatCount = ({ includedSeats, extraSeats }: Facts): number => Math.max(1, includedSeats + extraSeats);

/** Nothing brings it back. */
export const isOver = ({ status }: Pick<Facts, "status">): boolean =>
  status === "canceled" || status === "incomplete_expired";

/** Whether it gave its tier at least once: what was paid for never is `incomplete` again. */
const wasLive = ({ status, tier }: Facts): boolean =>
  tier !== null && ["active", "trialing", "past_due", "unpaid", "paused", "canceled"].includes(status);

export interface TenantSubscriptions {
  /** The tier that they give together; null: none was ever live, so that they say nothing. */
  readonly tier: Tier | null;
  /** The one that counts: the highest that is live, else the newest; null: there is none of ours. */
  readonly shown: Subscription | null;
  /** Ids of those that give a tier; two at once are one too many. */
  readonly live: readonly string[];
}

/**
 * @param all     the tenant's, in any order
 * @param hadTier whether they said something before
 * @param now     Unix seconds
 */
export function subscriptionsOf(all: readonly Subscription[], hadTier: boolean, now: number): TenantSubscriptions {
  const ours = all.filter(({ facts }) => facts.tier !== null);
  const ranked = ours
    .map((subscription) => ({ subscription, tier: tierInForce(subscription, now) }))
    .sort((a, b) => rankOf(b.tier) - rankOf(a.tier) || newestFirst(a.subscription.facts, b.subscription.facts));
  const live = ranked.filter(({ tier }) => tier !== "free");
  const hasSpoken = hadTier || ours.some(({ facts }) => wasLive(facts));
  return {
    tier: live[0]?.tier ?? (hasSpoken ? "free" : null),
    shown: ranked[0]?.subscription ?? null,
    live: live.map(({ subscription }) => subscription.facts.id).sort(),
  };
}

const newestFirst = (a: Facts, b: Facts): number => b.created - a.created || (a.id < b.id ? 1 : -1);
