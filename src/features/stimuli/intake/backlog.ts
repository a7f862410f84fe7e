/** How much of a tenant's is acknowledged and waits to be processed: bounded, so that a burst ends in 503 and not in memory. */
import { LRUCache } from "lru-cache";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { gather } from "../../../store/gather.ts";

/** Of one tenant (docs/reference/stimuli.md). */
export const maxBacklog = 10_000;
/** A count is taken as known for so long, ms, and less long near the bound; what this node adds meanwhile is added. */
const freshMs = 2_000;
const freshWhenNearMs = 250;
const near = 0.8;
const remembered = 10_000;

export interface Backlog {
  /** @throws Problem 503 `backlog_full` */
  require(tenant: string): Promise<void>;
  /** This node accepted one more. */
  added(tenant: string): void;
}

/** @param count of the tenants asked for, up to `most`; those without any may be left out */
export function watchBacklog(
  count: (tenants: readonly string[], most: number) => Promise<ReadonlyMap<string, number>>,
  now: () => number,
  limit = maxBacklog,
): Backlog {
  const known = new LRUCache<string, { readonly at: number; readonly counted: Promise<void>; waiting: number }>({
    max: remembered,
  });
  const load = gather<string, number>(
    (tenants) => count(tenants, limit),
    (tenant) => tenant,
  );

  function look(tenant: string) {
    const found = known.get(tenant);
    const isNear = found !== undefined && found.waiting > limit * near;
    if (found !== undefined && now() - found.at < (isNear ? freshWhenNearMs : freshMs)) return found;
    const entry = {
      at: now(),
      waiting: 0,
      counted: load(tenant).then((counted) => {
        entry.waiting += counted ?? 0;
      }),
    };
    entry.counted.catch(() => known.delete(tenant));
    known.set(tenant, entry);
    return entry;
  }

  return {
    async require(tenant) {
      const entry = look(tenant);
      await entry.counted;
      if (entry.waiting < limit) return;
      throw new Problem("backlog_full", "Too many stimuli wait to be routed", {}, { "Retry-After": "5" });
    },
    added(tenant) {
      const entry = known.get(tenant);
      if (entry !== undefined) entry.waiting++;
    },
  };
}
