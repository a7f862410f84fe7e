/** What an API key may be made to open, and for how long. Pure (docs/reference/identity.md, API keys). */
import { invalidField, Problem } from "../kernel/problem.ts";
import { expand, platformScopes, withImplied } from "./scopes.ts";

/** Active keys of one person or machine, in all tenants together. */
export const maxActiveKeys = 100;

const dayMs = 86_400_000;
/** Of keys that have to expire. */
const usualMs = 90 * dayMs;
const longestMs = 365 * dayMs;

/**
 * The scopes a new key is stored with.
 * @param requested words as they were sent; null: all that concerns the tenant
 * @param held what the creator has
 * @throws Problem 422 `unknown_scope`; 403 `scope_not_grantable` for what is named and not held
 */
export function keyScopes(requested: readonly string[] | null, held: ReadonlySet<string>): readonly string[] {
  const ofTenant = [...held].filter((scope) => !platformScopes.has(scope));
  if (requested === null) return ofTenant.sort();
  const unknown = requested.filter((word) => !isShorthand(word) && expand(word).length === 0);
  if (unknown.length > 0) {
    throw new Problem("unknown_scope", "Some scopes are not known", { unknown: unknown.slice(0, maxTold) });
  }
  const missing = requested.filter((word) => isName(word) && !expand(word).every((scope) => held.has(scope)));
  if (missing.length > 0) {
    const extras = { missing: missing.slice(0, maxTold) };
    throw new Problem("scope_not_grantable", "A key opens no more than its creator may", extras);
  }
  const granted = requested.flatMap((word) => {
    if (!isShorthand(word)) return expand(word).filter((scope) => held.has(scope));
    return ofTenant.filter((scope) => isReading(scope) === (word === "read"));
  });
  return [...new Set(granted)].sort();
}

/** Words told in a refusal. */
const maxTold = 20;

const isShorthand = (word: string): boolean => word === "read" || word === "write";
/** Whether a word names one scope, not what a wildcard or shorthand leaves of those that are held. */
const isName = (word: string): boolean => !isShorthand(word) && !word.endsWith("*");
/** What `read` stands for: values of secrets are not just read. */
const isReading = (scope: string): boolean => /[:.](?:read|list|logs|stream)$/.test(scope) && scope !== "secret:read";

/** Whether a key opens nothing beyond a bound. @param bound null: there is none */
export const isWithin = (scopes: readonly string[], bound: ReadonlySet<string> | null): boolean =>
  bound === null || [...withImplied(new Set(scopes))].every((scope) => bound.has(scope));

export interface Lifetime {
  /** Unix milliseconds; null: none was asked for. */
  readonly requested: number | null;
  /** Of the platform's people and machines, who may do much in many tenants. */
  readonly mustExpire: boolean;
  /** Of the key that it is made with, Unix milliseconds; null: without end, or made with a token. */
  readonly parentEnds: number | null;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * When a key expires, Unix milliseconds; null: never.
 * @throws Problem 422 for a moment that has passed or lies too far ahead
 */
export function keyExpiry({ requested, mustExpire, parentEnds, now }: Lifetime): number | null {
  const latest = Math.min(mustExpire ? now + longestMs : Infinity, parentEnds ?? Infinity);
  if (requested === null) {
    const usual = Math.min(mustExpire ? now + usualMs : Infinity, latest);
    return usual === Infinity ? null : usual;
  }
  if (!(requested > now)) throw invalidField("expires_at", "must be in the future");
  if (requested <= latest) return requested;
  throw invalidField(
    "expires_at",
    latest === parentEnds ? "must not be after the key that it is made with" : "must be within 365 days",
  );
}

export interface Rotation extends Lifetime {
  /** How long the former value goes on opening. */
  readonly graceMs: number;
  /** Of the key as it was; null: without end. */
  readonly lifetimeMs: number | null;
  /** When the former value would have ended by itself, Unix milliseconds; null: never. */
  readonly formerEnds: number | null;
}

/**
 * When the new value of a key ends, by default after the former lifetime again, and until when the former one holds.
 * @throws Problem 422 as `keyExpiry`
 */
export function rotationTimes(rotation: Rotation): {
  readonly expiresAt: number | null;
  readonly previousUntil: number;
} {
  const { requested, parentEnds, now, graceMs, lifetimeMs, formerEnds } = rotation;
  const again = lifetimeMs === null ? null : earliest(now + lifetimeMs, parentEnds);
  const expiresAt = keyExpiry({ ...rotation, requested: requested ?? again });
  return { expiresAt, previousUntil: Math.min(now + graceMs, formerEnds ?? Infinity, expiresAt ?? Infinity) };
}

/** Of two ends; null: no end. */
export const earliest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);
