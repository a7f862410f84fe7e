/**
 * Rate limits, held across all nodes (docs/reference/identity.md): the buckets of a use lie in Redis and are tested and debited in
 * one step, many uses with one command. Redis away means that nothing is let through.
 */
import { Problem } from "../../../actors/kernel/problem.ts";
import type { TenantTerms } from "../../../actors/policy/quota.ts";
import {
  buckets,
  type RateBucket,
  type RateOverride,
  type RateResource,
  type RateRule,
  type RateUser,
  rulesOf,
  windowOf,
} from "../../../actors/policy/rates/limits.ts";
import { headersOf, type RateFinding, type RateHeaders, refusal } from "../../../actors/policy/rates/standing.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { openRedis, type RedisServers, replyInTime, slotGroupsOf } from "../../store/redis/connections.ts";
import { scriptCommand } from "../../store/redis/script.ts";
import { overridesFor } from "./overrides.ts";

export interface RateUse {
  readonly tenant: string;
  /** Null, like a service account: counts in the tenant's buckets alone. */
  readonly user: RateUser | null;
  readonly resource: RateResource;
  readonly units: number;
  /** Held to a rate of its own beside the others: one source of stimuli of the tenant. */
  readonly source?: { readonly name: string; readonly perMinute: number };
}

export interface Limiter {
  /**
   * Debits a use. Nothing is debited when it is refused.
   * @returns headers for the answer
   * @throws Problem 429 `rate_limited`, 503 `limiter_unavailable`
   */
  debit(use: RateUse): Promise<RateHeaders>;
  /** Gives back what a start debited that was never accepted. Never throws. */
  refund(use: RateUse): Promise<void>;
  close(): void;
}

export interface LimiterOptions {
  readonly sql: Sql;
  readonly redisServers: RedisServers;
  /** What a tenant has as it stands now. */
  readonly terms: (tenant: string) => Promise<Pick<TenantTerms, "tier">>;
  /** Of every key. */
  readonly prefix: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Called when a use crosses 80 % of a window. */
  readonly report: (event: "rate_limit_warning", facts: Record<string, unknown>) => void;
  /** How long overrides are taken as read; 5 000 when absent. */
  readonly overridesMs?: number;
}

/** A month and a day: a bucket unused for so long has no effect any more. */
const keptMs = 32 * 86_400_000;
const warningShare = 0.8;
/** Of uses that are not alike, in one command. */
const mostGroups = 64;
const rememberedOverrides = 10_000;

/** Lets everything through. */
export const noLimiter: Limiter = { debit: async () => ({}), refund: async () => {}, close: () => {} };

export function openLimiter(options: LimiterOptions): Limiter {
  const redis = openRedis(options.redisServers);
  const debit = scriptCommand(redis, "debit-rate");
  const { now, overridesMs = 5_000 } = options;
  const remembered = new Map<string, { readonly at: number; readonly overrides: Promise<readonly RateOverride[]> }>();

  function overrides(tenant: string, userId: string | null): Promise<readonly RateOverride[]> {
    const key = JSON.stringify([tenant, userId]);
    const known = remembered.get(key);
    if (known !== undefined && now() - known.at < overridesMs) return known.overrides;
    if (remembered.size >= rememberedOverrides) remembered.clear();
    const read = overridesFor(options.sql, tenant, userId);
    remembered.set(key, { at: now(), overrides: read });
    read.catch(() => remembered.delete(key));
    return read;
  }

  /** On a Cluster a command holds the uses of one tenant, whose buckets share a slot; elsewhere there is one line. */
  const lines = new Map<string, Line>();
  const lineOf: (tenant: string) => string = slotGroupsOf(redis) === 1 ? () => "" : (tenant) => tenant;

  /** Uses of one moment go out as one command, and so do those that come while another one is under way. */
  function roundFor(lineName: string, name: string): Round {
    const { gathering, last } = lines.get(lineName) ?? { gathering: null, last: Promise.resolve() };
    if (gathering !== null && (gathering.groups.size < mostGroups || gathering.groups.has(name))) return gathering;
    const groups = new Map<string, Group>();
    const line: Line = { gathering: null, last: Promise.resolve() };
    const round: Round = { groups, outcomes: replyInTime(send(line, groups, last), unavailable) };
    line.gathering = round;
    line.last = round.outcomes
      .catch(() => {})
      .then(() => {
        if (lines.get(lineName) === line) lines.delete(lineName);
      });
    lines.set(lineName, line);
    return round;
  }

  async function send(
    line: Line,
    groups: ReadonlyMap<string, Group>,
    before: Promise<unknown>,
  ): Promise<ReadonlyMap<string, Outcome>> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    await before;
    line.gathering = null;
    const at = now();
    const { keys, uses } = argumentsOf(options.prefix, [...groups.values()], at);
    const reply = JSON.parse(String(await debit(keys, [at, keptMs, JSON.stringify(uses)]))) as number[][];
    const outcomes = new Map<string, Outcome>();
    for (const [name, { rules }] of groups) {
      const [granted = 0, ...left] = reply[outcomes.size] ?? [];
      outcomes.set(name, { at, granted, behind: rules.map((rule, index) => ({ rule, left: left[index] ?? 0 })) });
    }
    return outcomes;
  }

  /** @returns what became of it and of those that are alike, and its place among them */
  async function take(use: RateUse): Promise<Outcome & { readonly place: number }> {
    const { tenant, user, resource, units, source } = use;
    const [found, { tier }] = await Promise.all([overrides(tenant, user?.userId ?? null), options.terms(tenant)]);
    const name = JSON.stringify([tenant, tier, user?.userId, user?.kind, resource, units, source]);
    const { groups, outcomes } = roundFor(lineOf(tenant), name);
    let group = groups.get(name);
    if (group === undefined) {
      group = { use, rules: [...rulesOf(tenant, tier, user, resource, found), ...sourceRules(use)], size: 0 };
      groups.set(name, group);
    }
    const place = group.size++;
    return { ...((await outcomes).get(name) as Outcome), place };
  }

  return {
    async debit(use) {
      const { at, granted, behind, place } = await take(use);
      if (place >= granted) throw refusal(use.resource, behind, use.units, at);
      const later = (granted - 1 - place) * use.units;
      const findings = behind.map(({ rule, left }): RateFinding => ({ rule, left: left + later }));
      for (const { rule, left } of findings) {
        const line = rule.limit * (1 - warningShare);
        if (rule.bucket === "per_minute" || left > line || left + use.units <= line) continue;
        const { tenant, resource } = use;
        options.report("rate_limit_warning", { tenant, resource, bucket: rule.bucket, scope: rule.scope });
      }
      return headersOf(findings, at);
    },
    async refund(use) {
      await take({ ...use, units: -use.units }).catch(() => {});
    },
    close: () => redis.disconnect(),
  };
}

/** Commands one after the other. */
interface Line {
  /** Takes in uses until its command leaves. */
  gathering: Round | null;
  /** Settles with the command of the round before. */
  last: Promise<unknown>;
}

/** What goes to Redis as one command. */
interface Round {
  /** By what makes uses alike. */
  readonly groups: Map<string, Group>;
  readonly outcomes: Promise<ReadonlyMap<string, Outcome>>;
}

/** Uses of the same buckets and units, tested as if one after the other. */
interface Group {
  readonly use: RateUse;
  readonly rules: readonly RateRule[];
  /** Uses taken in so far. */
  size: number;
}

interface Outcome {
  /** Unix milliseconds. */
  readonly at: number;
  /** So many of them, the first ones, were let through. */
  readonly granted: number;
  /** The buckets behind the last of these. */
  readonly behind: readonly RateFinding[];
}

function sourceRules({ source }: RateUse): RateRule[] {
  if (source === undefined) return [];
  return [{ scope: "source", bucket: "per_minute", limit: source.perMinute, capacity: source.perMinute }];
}

/** As `src/store/redis/lua/debit-rate.lua` takes them. */
function argumentsOf(prefix: string, groups: readonly Group[], now: number) {
  const startOf = (bucket: RateBucket) => (bucket === "per_minute" ? "0" : String(windowOf(bucket, now).start));
  const starts = Object.fromEntries(buckets.map((bucket) => [bucket, startOf(bucket)]));
  const keys: string[] = [];
  const uses = groups.map(({ use, rules, size }) => {
    const { tenant, user, resource, units } = use;
    const scopes = [...new Set(rules.map(({ scope }) => scope))];
    const before = keys.length;
    for (const scope of scopes) {
      const place =
        scope === "source" ? `source:${use.source?.name}` : `${resource}:${scope === "user" ? user?.userId : ""}`;
      keys.push(`${prefix}:rate:{${tenant}}:${place}`);
    }
    const tested = rules.map(({ scope, bucket, limit, capacity }) => {
      return [before + scopes.indexOf(scope) + 1, bucket, limit, capacity, starts[bucket]];
    });
    return [units, size, tested];
  });
  return { keys, uses };
}

const unavailable = () =>
  new Problem("limiter_unavailable", "The rate limits cannot be checked now", {}, { "Retry-After": "1" });
