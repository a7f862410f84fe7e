/** What a plan says of the people who work together: how many there may be, and what is shown of the tier. Pure. */
import type { Tier } from "../identity/identity.ts";

/** How many teams one person may own. */
export const maxTeams = 20;

/** How long an invitation holds, ms. */
export const invitationLastsMs = 7 * 24 * 3600 * 1000;

const seats: Readonly<Record<Tier, number>> = { free: 0, pro: 0, business: 5, enterprise: 10 };

/** People that a tier has room for without further seats, the owner among them. */
export const seatsOf = (tier: Tier | "system"): number => Math.max(1, tier === "system" ? 1 : seats[tier]);

/** What is told of a tier, for people; each route decides for itself what a tier opens. */
export function featuresOf(tier: Tier | "system"): readonly string[] {
  const all = ["volumes", "edge", "teams", "saml", "audit_export"];
  const known: Readonly<Record<Tier | "system", number>> = { free: 0, pro: 2, business: 3, enterprise: 5, system: 5 };
  return all.slice(0, known[tier]);
}
