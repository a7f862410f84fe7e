/** What tier a tenant has, and why: one rule for requests, starts without a caller and administrators. Pure. */
import { type Tier, tiers } from "./identity.ts";
import type { TenantKind } from "./tenant.ts";

/** Everything the tier of a tenant follows from. */
export interface TierFacts {
  readonly kind: TenantKind;
  /** Set by an administrator; null: left to the rest. */
  readonly admin: Tier | null;
  /** Of its subscriptions: null until one was live for the first time, then what the live ones give. */
  readonly subscription: Tier | null;
  /** Of a consumer's own tenant: what the newest token of its owner claims. */
  readonly claimed: Tier | null;
  /** Of a team: the tier it was made with. */
  readonly team: Tier | null;
  /** Of a team: its owner's own tenant; null: it has none. */
  readonly owner: TierFacts | null;
}

/** Why a tenant has its tier. */
export type TierSource = "admin" | "subscription" | "claim" | "default";

export interface Standing {
  readonly tier: Tier | "system";
  readonly source: TierSource;
}

/** The first that applies, of a team the lower of its own and its owner's (docs/reference/identity.md). */
export function standingOf(facts: TierFacts): Standing {
  if (facts.kind === "system") return { tier: "system", source: "default" };
  const own = ownStanding(facts);
  if (facts.kind !== "team") return own;
  const owners = facts.owner === null ? free : ownStanding(facts.owner);
  return rank(owners.tier) < rank(own.tier) ? owners : own;
}

interface OwnStanding extends Standing {
  readonly tier: Tier;
}

const free: OwnStanding = { tier: "free", source: "default" };

function ownStanding({ kind, admin, subscription, claimed, team }: TierFacts): OwnStanding {
  if (admin !== null) return { tier: admin, source: "admin" };
  if (subscription !== null) return { tier: subscription, source: "subscription" };
  if (kind === "consumer" && claimed !== null) return { tier: claimed, source: "claim" };
  if (kind === "team" && team !== null) return { tier: team, source: "default" };
  return kind === "enterprise" ? { tier: "enterprise", source: "default" } : free;
}

/** Teams are part of the tiers from `business` on. */
export const isBelowBusiness = (tier: Tier | "system"): boolean => tier !== "system" && rank(tier) < rank("business");

/** Whether a tier is at least as high as another. */
export const reaches = (tier: Tier | "system", wanted: Tier): boolean =>
  tier === "system" || rank(tier) >= rank(wanted);

const rank = (tier: Tier): number => tiers.indexOf(tier);
