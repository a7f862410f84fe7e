/** What the dashboard counts of a day, and when in it, kept for a while: a view that is looked at often is not counted each time. */
import { LRUCache } from "lru-cache";
import { Status } from "../../../actors/execution/messages.ts";
import { iso } from "../../../actors/kernel/time.ts";
import { inAll, type Pieces, pieceMs } from "./pieces.ts";
import type { Series } from "./schema.ts";

/** Each of a tenant, or of all for null, since a time. */
export interface Sources {
  readonly executions: (tenant: string | null, since: number) => Promise<Pieces>;
  readonly runs: Sources["executions"];
  readonly stimuli: Sources["executions"];
  readonly incidents: Count;
  readonly violations: Count;
  readonly activeSwarms: (tenant: string | null) => Promise<number>;
}
type Count = (tenant: string | null, since: Date) => Promise<number>;

export interface Counts {
  readonly swarms: number;
  readonly stimuli: number;
  readonly incidents: number;
  readonly violations: number;
  readonly executions: number;
  readonly runs: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly series: Series;
}

const bucketSeconds = 900;
const piecesPerBucket = (bucketSeconds * 1_000) / pieceMs;
const windowMs = 24 * 3_600_000;
/** Views of which the counts are kept. */
const maxKept = 1_000;
/** The least that counts are kept for, ms; those that took long, for so many times as long. */
const keptMs = 2_000;
const keptTimes = 20;
const longestMs = 60_000;

interface Kept {
  readonly counts: Promise<Counts>;
  /** By `performance.now()`; without end while it is being counted. */
  until: number;
}

/** @param now Unix milliseconds @returns the counts of a view: a tenant's, or for null all tenants' */
export function createCounts(sources: Sources, now: () => number): (tenant: string | null) => Promise<Counts> {
  const kept = new LRUCache<string, Kept>({ max: maxKept });
  return (tenant) => {
    const key = JSON.stringify(tenant);
    const known = kept.get(key);
    if (known !== undefined && performance.now() < known.until) return known.counts;
    const began = performance.now();
    const counts = countAll(sources, tenant, now() - windowMs);
    const entry: Kept = { counts, until: Number.POSITIVE_INFINITY };
    kept.set(key, entry);
    counts.then(
      () => {
        const took = performance.now() - began;
        entry.until = performance.now() + Math.min(longestMs, Math.max(keptMs, keptTimes * took));
      },
      () => kept.delete(key),
    );
    return counts;
  };
}

async function countAll(sources: Sources, tenant: string | null, since: number): Promise<Counts> {
  const [executions, runs, stimuli, incidents, violations, swarms] = await Promise.all([
    sources.executions(tenant, since),
    sources.runs(tenant, since),
    sources.stimuli(tenant, since),
    sources.incidents(tenant, new Date(since)),
    sources.violations(tenant, new Date(since)),
    sources.activeSwarms(tenant),
  ]);
  const byStatus: Record<string, number> = Object.fromEntries(Status.anyOf.map((one) => [one.const, 0]));
  for (const [status, count] of inAll(executions)) byStatus[status] = (byStatus[status] ?? 0) + count;
  return {
    swarms,
    stimuli: sumOf(inAll(stimuli)),
    incidents,
    violations,
    runs: sumOf(inAll(runs)),
    executions: sumOf(inAll(executions)),
    byStatus,
    series: { bucket_seconds: bucketSeconds, buckets: inBuckets(executions, runs) },
  };
}

/** Quarters of an hour in which something was started, the oldest first; what was started, by what it is now. */
function inBuckets(executions: Pieces, runs: Pieces): Series["buckets"] {
  const buckets = new Map<number, { executions: Record<string, number>; runs: Record<string, number> }>();
  const kinds = [
    ["executions", executions],
    ["runs", runs],
  ] as const;
  for (const [kind, pieces] of kinds) {
    for (const [piece, counts] of pieces) {
      const number = Math.floor(piece / piecesPerBucket);
      const bucket = buckets.get(number) ?? { executions: {}, runs: {} };
      buckets.set(number, bucket);
      for (const [status, count] of counts) bucket[kind][status] = (bucket[kind][status] ?? 0) + count;
    }
  }
  return [...buckets]
    .sort(([a], [b]) => a - b)
    .map(([number, bucket]) => ({ at: iso(number * bucketSeconds * 1_000), ...bucket }));
}

const sumOf = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, one) => sum + one, 0);
