/**
 * Rate limits, held across all nodes (docs/reference/identity.md): the buckets of a use lie in Redis and are tested and debited in
 * one step, many uses with one command. Redis away means that nothing is let through.
 */
import { Problem } from "../../../actors/kernel/problem.ts";
import {
  demands,
  limitsOf,
  type RateDemand,
  type RateLimit,
  type RateOverride,
  type RateRule,
  type RateTenant,
  type RateUser,
  ruleOf,
} from "../../../actors/policy/rates/limits.ts";
import { buckets, type RateResource, unlimited } from "../../../actors/policy/rates/resources.ts";
import {
  crossings,
  headersOf,
  type RateFinding,
  type RateHeaders,
  type RateWarning,
  refusal,
} from "../../../actors/policy/rates/standing.ts";
import { windowOf } from "../../../actors/policy/rates/windows.ts";
import { openRedis, type RedisServers, replyInTime, slotGroupsOf } from "../../store/redis/connections.ts";
import { scriptCommand } from "../../store/redis/script.ts";
import type { Standings } from "./standings.ts";

/** What one piece of work uses; its buckets are tested and debited in one step. */
export interface RateUse {
  readonly tenant: string;
  /** Null: counts in the tenant's buckets alone. */
  readonly user: RateUser | null;
  readonly demands: readonly RateDemand[];
  /** Held to a rate of its own beside the others: one source of stimuli of the tenant. */
  readonly source?: { readonly name: string; readonly perMinute: number };
}

/** A use that was let through. */
export interface Debited {
  /** For the answer. */
  readonly headers: RateHeaders;
  /** The moment that it was counted at, Unix ms. */
  readonly at: number;
  /** Windows that it was the first to use most of. */
  readonly warnings: readonly RateWarning[];
}

export interface Limiter {
  /**
   * Debits a use. Nothing is debited when it is refused.
   * @throws Problem 429 `rate_limited`, 503 `limiter_unavailable`
   */
  debit(use: RateUse): Promise<Debited>;
  /**
   * Gives back what a start debited that was never accepted; windows that have ended since stay as they are. Never throws.
   * @param at the moment of the debit, Unix ms
   */
  refund(use: RateUse, at: number): Promise<void>;
  /** What is left in buckets, units, in the order given; null where nothing is counted. @throws Problem 503 */
  look(tenant: string, user: RateUser | null, limits: readonly RateLimit[]): Promise<(number | null)[]>;
  close(): void;
}

export interface LimiterOptions {
  readonly redisServers: RedisServers;
  /** Of every key. */
  readonly prefix: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly standings: Pick<Standings, "of">;
  /** Called when a use crosses 80 % of a window. */
  readonly report: (event: "rate_limit_warning", facts: Record<string, unknown>) => void;
  /** Called for every use that is refused. */
  readonly refused?: (resource: string) => void;
}

/** A month and a day: a bucket unused for so long has no effect any more. */
const keptMs = 32 * 86_400_000;
/** Of uses that are not alike, in one command. */
const mostGroups = 64;

/** Lets everything through. */
export const noLimiter: Limiter = {
  debit: async () => ({ headers: {}, at: 0, warnings: [] }),
  refund: async () => {},
  look: async (_, __, limits) => limits.map(() => null),
  close: () => {},
};

export function openLimiter(options: LimiterOptions): Limiter {
  const redis = openRedis(options.redisServers);
  const debit = scriptCommand(redis, "debit-rate");
  const { now, prefix } = options;

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
    const asked = [...groups.values()];
    const found = await ask(asked, at);
    return new Map([...groups.keys()].map((name, index) => [name, found[index] as Outcome]));
  }

  /** @returns what became of each group */
  async function ask(groups: readonly Group[], at: number): Promise<Outcome[]> {
    const { keys, input } = argumentsOf(prefix, groups, at);
    const reply = JSON.parse(String(await debit(keys, [at, keptMs, JSON.stringify(input)]))) as number[];
    let next = 0;
    return groups.map(({ rules }) => {
      const granted = reply[next++] ?? 0;
      return { at, granted, behind: rules.map((rule) => ({ rule, left: reply[next++] ?? 0 })) };
    });
  }

  /** By the overrides that hold: they are the same list for as long as they are taken as read. */
  const known = new WeakMap<readonly RateOverride[], Map<string, readonly RateLimit[]>>();

  function limitsFor(
    tenant: RateTenant,
    user: RateUser | null,
    resource: RateResource,
    overrides: readonly RateOverride[],
  ) {
    const byName = known.get(overrides) ?? new Map<string, readonly RateLimit[]>();
    known.set(overrides, byName);
    const name = `${tenant.tier} ${resource}`;
    const limits = byName.get(name) ?? limitsOf(tenant, user, resource, overrides);
    byName.set(name, limits);
    return limits;
  }

  /**
   * @param since the moment whose windows are meant; null: that of the command
   * @returns what became of it and of those that are alike, and its place among them
   */
  async function take(use: RateUse, since: number | null): Promise<Outcome & { readonly place: number }> {
    const { tenant, user, source } = use;
    const { tier, overrides } = await options.standings.of(tenant, user);
    const name = JSON.stringify([tenant, user, use.demands, source, since]);
    const { groups, outcomes } = roundFor(lineOf(tenant), name);
    let group = groups.get(name);
    if (group === undefined) {
      const standing: RateTenant = { slug: tenant, tier };
      const rules = use.demands.flatMap((demand) =>
        limitsFor(standing, user, demand.resource, overrides).map((limit) => ruleOf(limit, demand)),
      );
      group = { use, rules: [...rules, ...sourceRules(use)], since, size: 0 };
      groups.set(name, group);
    }
    const place = group.size++;
    return { ...((await outcomes).get(name) as Outcome), place };
  }

  return {
    async debit(use) {
      const { at, granted, behind, place } = await take(use, null);
      if (place >= granted) {
        const problem = refusal(behind, at);
        options.refused?.(String(problem.extras.resource_type));
        throw problem;
      }
      const later = granted - 1 - place;
      const findings = behind.map(({ rule, left }): RateFinding => ({ rule, left: left + later * rule.take }));
      const warnings = crossings(findings);
      for (const warning of warnings) options.report("rate_limit_warning", { tenant: use.tenant, ...warning });
      return { headers: headersOf(findings, at), at, warnings };
    },
    async refund(use, at) {
      await take({ ...use, demands: use.demands.map(demands.returned) }, at).catch(() => {});
    },
    async look(tenant, user, limits) {
      const at = now();
      const rules = limits.map((limit) => ruleOf(limit, { need: 0, take: 0 }));
      const group: Group = { use: { tenant, user, demands: [] }, rules, since: null, size: 1 };
      const [found] = await replyInTime(ask([group], at), unavailable);
      return limits.map(({ bucket, limit }, index) =>
        bucket === "per_minute" && limit === unlimited ? null : (found?.behind[index]?.left ?? null),
      );
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
  /** The moment whose windows are meant; null: that of the command. */
  readonly since: number | null;
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

function sourceRules({ source, demands: [demand] }: RateUse): RateRule[] {
  if (source === undefined || demand === undefined) return [];
  const { perMinute } = source;
  const { resource } = demand;
  return [ruleOf({ resource, scope: "source", bucket: "per_minute", limit: perMinute, capacity: perMinute }, demand)];
}

/** As `src/store/redis/lua/debit-rate.lua` takes them. The rules of a resource and scope stand together, the minute first. */
function argumentsOf(prefix: string, groups: readonly Group[], now: number) {
  const keys: string[] = [];
  const input: unknown[] = [startsAt(now)];
  for (const { use, rules, since, size } of groups) {
    const group: unknown[] = [size, since === null ? 0 : startsAt(since)];
    let scope: number[] = [];
    for (const rule of rules) {
      if (rule.bucket === "per_minute") {
        scope = [keys.push(keyOf(prefix, use, rule)), 0, rule.take, rule.capacity];
        group.push(scope);
      }
      scope[1] = Math.max(scope[1] ?? 0, rule.need);
      scope.push(rule.limit);
    }
    input.push(group);
  }
  return { keys, input };
}

const windows = buckets.filter((bucket) => bucket !== "per_minute");
const startsAt = (moment: number): number[] => windows.map((bucket) => windowOf(bucket, moment).start);

/** All of a tenant's lie in one slot. A realm's name is escaped: what comes after it may be anything. */
function keyOf(prefix: string, { tenant, user, source }: RateUse, { resource, scope }: RateRule): string {
  const person = scope === "user" && user !== null ? `${encodeURIComponent(user.realm)}:${user.userId}` : "";
  return `${prefix}:rates:{${tenant}}:${scope === "source" ? `source:${source?.name}` : `${resource}:${person}`}`;
}

const unavailable = () =>
  new Problem("limiter_unavailable", "The rate limits cannot be checked now", {}, { "Retry-After": "1" });
