/** What a use found in its buckets, and what the caller is told of it (docs/reference/identity.md). Pure. */

import { Problem } from "../../kernel/problem.ts";
import { iso } from "../../kernel/time.ts";
import { type RateResource, type RateRule, windowOf, windowSeconds } from "./limits.ts";

/** A bucket after the test: what is left in it, units. */
export interface RateFinding {
  readonly rule: RateRule;
  /** After the debit, or as it was when the use was refused. */
  readonly left: number;
}

/** Response headers of a route that debits. */
export type RateHeaders = Readonly<Record<string, string>>;

/** @param now Unix ms */
export function headersOf(findings: readonly RateFinding[], now: number): RateHeaders {
  const tightest = findings.reduce((one, other) => (share(other) < share(one) ? other : one));
  const { limit } = tightest.rule;
  const seconds = Math.ceil(Math.max(0, resetAt(tightest, now) - now) / 1000);
  const remaining = String(Math.max(0, Math.floor(tightest.left)));
  return {
    "RateLimit-Limit": String(limit),
    "X-RateLimit-Limit": String(limit),
    "RateLimit-Remaining": remaining,
    "X-RateLimit-Remaining": remaining,
    "RateLimit-Reset": String(seconds),
    "X-RateLimit-Reset": String(Math.ceil(now / 1000) + seconds),
    "RateLimit-Policy": findings
      .filter(({ rule }) => rule.scope === tightest.rule.scope)
      .map(({ rule }) => `${rule.limit};w=${windowSeconds[rule.bucket]}`)
      .join(", "),
  };
}

/** @param units that were asked for and that not every bucket holds */
export function refusal(resource: RateResource, findings: readonly RateFinding[], units: number, now: number): Problem {
  const dry = findings.filter(({ left }) => left < units);
  const longest = dry.reduce((one, other) => (freeAt(other, units, now) > freeAt(one, units, now) ? other : one));
  const at = freeAt(longest, units, now);
  const seconds = Math.max(1, Math.ceil((at - now) / 1000));
  return new Problem(
    "rate_limited",
    `Rate limit reached for ${resource}`,
    {
      resource_type: resource,
      bucket: longest.rule.bucket,
      scope_type: longest.rule.scope,
      limit: longest.rule.limit,
      remaining: Math.max(0, Math.floor(longest.left)),
      retry_after_seconds: seconds,
      resets_at: iso(at),
    },
    { ...headersOf(findings, now), "Retry-After": String(seconds) },
  );
}

const share = ({ rule, left }: RateFinding): number => (rule.limit === 0 ? 0 : left / rule.limit);

/** When the bucket is full again, or its window over. */
function resetAt({ rule, left }: RateFinding, now: number): number {
  if (rule.bucket !== "per_minute") return windowOf(rule.bucket, now).end;
  return rule.limit === 0 ? now + 60_000 : now + ((rule.capacity - left) / rule.limit) * 60_000;
}

/** When the bucket holds that many units again. */
function freeAt({ rule, left }: RateFinding, units: number, now: number): number {
  if (rule.bucket !== "per_minute") return windowOf(rule.bucket, now).end;
  // A bucket too small for the use never holds enough; a minute is as good an answer as any.
  if (rule.limit === 0 || rule.capacity < units) return now + 60_000;
  return now + ((units - left) / rule.limit) * 60_000;
}
