/**
 * Rate limits, held across all nodes (auth-tenancy 9): the buckets of a use lie in Redis and are tested and debited in
 * one step. Redis away means that nothing is let through.
 */

import { Problem } from "../../actors/problem.ts";
import {
  type RateOverride,
  type RateResource,
  type RateRule,
  type RateUser,
  rulesOf,
  windowOf,
} from "../../actors/rate/limits.ts";
import { headersOf, type RateFinding, type RateHeaders, refusal } from "../../actors/rate/standing.ts";
import type { Sql } from "../store/postgres.ts";
import { openRedis } from "../store/redis.ts";
import { scriptCommand } from "../store/script.ts";
import { overridesFor } from "./overrides.ts";

export interface RateUse {
  readonly tenant: string;
  /** Null, like a service account: counts in the tenant's buckets alone. */
  readonly user: RateUser | null;
  readonly resource: RateResource;
  readonly units: number;
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
  readonly redisUrl: string;
  /** Of every key. */
  readonly prefix: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Called when a use crosses 80 % of a window. */
  readonly report: (event: "rate_limit_warning", facts: Record<string, unknown>) => void;
  /** How long overrides are taken as read; 5 000 when absent. */
  readonly overridesMs?: number;
}

/** A month and a day: what nobody used for so long says nothing any more. */
const keptMs = 32 * 86_400_000;
const patienceMs = 5_000;
const warningShare = 0.8;
const rememberedOverrides = 10_000;

/** Lets everything through. */
export const noLimiter: Limiter = { debit: async () => ({}), refund: async () => {}, close: () => {} };

export function openLimiter(options: LimiterOptions): Limiter {
  const redis = openRedis(options.redisUrl);
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

  /** What is debited within one turn of the event loop goes out in one piece. */
  let turn: Promise<void> | null = null;
  function together(): Promise<void> {
    turn ??= new Promise((resolve) => {
      setImmediate(() => {
        turn = null;
        resolve();
      });
    });
    return turn;
  }

  async function take(use: RateUse, units: number, at: number): Promise<{ enough: boolean; findings: RateFinding[] }> {
    const { tenant, user, resource } = use;
    const rules = rulesOf(tenant, user, resource, await overrides(tenant, user?.userId ?? null));
    const { keys, values } = argumentsOf(options.prefix, use, rules, at);
    await together();
    const reply = await inTime(debit(keys, [at, units, keptMs, ...values]));
    const [enough, ...left] = reply as [number, ...string[]];
    return { enough: enough === 1, findings: rules.map((rule, index) => ({ rule, left: Number(left[index]) })) };
  }

  return {
    async debit(use) {
      const at = now();
      const { enough, findings } = await take(use, use.units, at);
      if (!enough) throw refusal(use.resource, findings, use.units, at);
      for (const { rule, left } of findings) {
        const line = rule.limit * (1 - warningShare);
        if (rule.bucket === "per_minute" || left > line || left + use.units <= line) continue;
        const { tenant, resource } = use;
        options.report("rate_limit_warning", { tenant, resource, bucket: rule.bucket, scope: rule.scope });
      }
      return headersOf(findings, at);
    },
    async refund(use) {
      await take(use, -use.units, now()).catch(() => {});
    },
    close: () => redis.disconnect(),
  };
}

function argumentsOf(prefix: string, { tenant, user, resource }: RateUse, rules: readonly RateRule[], now: number) {
  const scopes = [...new Set(rules.map(({ scope }) => scope))];
  // One hash tag: the buckets of a use lie together.
  const keys = scopes.map((scope) => `${prefix}:rate:{${tenant}}:${resource}:${scope === "user" ? user?.userId : ""}`);
  const values = rules.flatMap(({ scope, bucket, limit, capacity }) => [
    scopes.indexOf(scope) + 1,
    bucket,
    limit,
    capacity,
    bucket === "per_minute" ? 0 : windowOf(bucket, now).start,
  ]);
  return { keys, values };
}

/** @throws Problem 503 when Redis does not answer */
async function inTime<T>(command: Promise<T>): Promise<T> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable()), patienceMs);
  });
  try {
    return await Promise.race([command, late]);
  } catch {
    throw unavailable();
  } finally {
    clearTimeout(timer);
  }
}

const unavailable = () =>
  new Problem("limiter_unavailable", "The rate limits cannot be checked now", {}, { "Retry-After": "1" });
