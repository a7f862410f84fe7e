/** In whose name a run starts other executions. */

import type { Starter } from "../../../../../actors/execution/start/request.ts";
import { tiers } from "../../../../../actors/identity/identity.ts";
import type { RunHeader } from "../../../../../actors/workflow/run/state.ts";

/** What a run keeps of the standing of whoever set it going; only consumers bring a tier of their own. */
export function tierOf(starter: Starter | null): string | null {
  return starter?.kind === "consumer" ? (starter.tier ?? null) : null;
}

/** A consumer with his tier; null, nobody in particular, where the tenant's own standing decides. */
export function starterOf({ tier: claimed, initiated_by }: RunHeader): Starter | null {
  const tier = tiers.find((one) => one === claimed);
  if (tier === undefined) return null;
  return { kind: "consumer", role: null, membership: null, tier, userId: initiated_by.sub };
}
