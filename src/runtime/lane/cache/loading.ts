/** Which actors a batch needs in memory, and which of its messages go on where not all of them fit. */
import type { Delivery } from "../../mailbox/mailbox.ts";
import type { PoisonMessages } from "../containment/poison.ts";
import { isRepeat } from "../exchange/exchange.ts";
import type { Held } from "../exchange/held.ts";
import type { ActorCache } from "./actor-cache.ts";
import type { Underway } from "./underway.ts";

/** Characters of the states that a batch brings into memory, about. */
export const mostLoaded = 16 * 1024 * 1024;

/** An actor that is to be brought into memory. */
interface Wanted {
  readonly kind: string;
  readonly key: string;
  readonly partition: number;
  readonly tenant: string;
  readonly fresh: boolean;
}

/** What a lane knows of them without a look at the store. */
interface Known {
  readonly owned: ReadonlyMap<number, Held>;
  readonly poison: PoisonMessages;
  readonly cache: ActorCache;
  readonly underway: Underway;
}

/**
 * What the turns of these messages need of the store: actors by name, and whether activities are still under way.
 * @returns `names`: of each message the name of its actor, as `kind/key`; `activities` are to be looked up, `awaited` are
 *   known to be under way
 */
export function wantedBy(
  deliveries: readonly Delivery[],
  { owned, poison, cache, underway }: Known,
): {
  readonly missing: Map<string, Wanted>;
  readonly activities: readonly string[];
  readonly awaited: readonly string[];
  readonly names: readonly string[];
} {
  const missing = new Map<string, Wanted>();
  const activities: string[] = [];
  const awaited: string[] = [];
  const names: string[] = [];
  for (const delivery of deliveries) {
    const { envelope, partition } = delivery;
    const name = envelope === null ? "" : `${envelope.kind}/${envelope.key}`;
    names.push(name);
    // The usual case: nothing is needed.
    if (envelope === null || (envelope.activity === null && cache.has(name))) continue;
    const held = owned.get(partition);
    // A repeat is not run; and that its actor was new once says nothing about now.
    if (held === undefined || isRepeat(held, delivery)) continue;
    const { kind, key, tenant, activity, fresh } = envelope;
    if (activity !== null) (underway.has(activity) ? awaited : activities).push(activity);
    if (poison.of(envelope)?.error) continue;
    if (!cache.has(name) && !missing.has(name)) missing.set(name, { kind, key, partition, tenant, fresh });
  }
  return { missing, activities, awaited, names };
}

/** The activities that are under way, and whether they are wanted: those that were looked up, and those that are known. */
export function withAwaited(
  found: ReadonlyMap<string, boolean>,
  awaited: readonly string[],
): ReadonlyMap<string, boolean> {
  return awaited.length === 0 ? found : new Map([...found, ...awaited.map((id) => [id, true] as const)]);
}

/** The messages before the first whose actor did not fit into memory with the others, and the rest. */
export function fittingOf(
  deliveries: readonly Delivery[],
  left: ReadonlySet<string>,
): readonly [readonly Delivery[], readonly Delivery[]] {
  if (left.size === 0) return [deliveries, []];
  const end = deliveries.findIndex(({ envelope }) => envelope !== null && left.has(`${envelope.kind}/${envelope.key}`));
  return [deliveries.slice(0, end), deliveries.slice(end)];
}
