/** Who may own a team, and how many of them. */
import { maxTeams } from "../../../actors/colony/plan.ts";
import type { Tier } from "../../../actors/identity/identity.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Transaction } from "../../store/postgres/pool.ts";

/**
 * Call it in the owner's turn (`inTurn`).
 * @param owner the owner's own tenant
 * @throws Problem 402 `quota_exceeded`
 */
export async function requireRoomForTeam(tx: Transaction, owner: string, tier: Tier | "system"): Promise<void> {
  const [row] = await tx<{ used: number }[]>`
    select count(*)::int as used from tenants where owner_tenant = ${owner} and kind = 'team' and status <> 'deleted'`;
  const used = row?.used ?? 0;
  if (used < maxTeams) return;
  const extras = { quota: "max_teams", limit: maxTeams, used, tier };
  throw new Problem("quota_exceeded", `One person owns at most ${maxTeams} teams`, extras);
}

/** @param wanted the tier that the team was made with */
export const personalTierTooLow = (wanted: Tier): Problem =>
  new Problem("personal_tier_too_low", `The owner of this team needs the tier ${wanted}`, { required_tier: wanted });
