/** What a use is held to: the tier of its tenant and the overrides that concern it, as this node knows them. */
import { LRUCache } from "lru-cache";
import type { Tier } from "../../../actors/identity/identity.ts";
import type { TenantTerms } from "../../../actors/policy/quota.ts";
import type { RateOverride, RateUser } from "../../../actors/policy/rates/limits.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Notices } from "../../store/redis/notices.ts";
import { overridesFor } from "./overrides.ts";

export interface Standings {
  of(tenant: string, user: RateUser | null): Promise<HeldTo>;
  /** Has every node read the overrides anew; call it after the commit that changed one. @param tenant null: of any */
  changed(tenant: string | null): void;
}

export interface HeldTo {
  readonly tier: Tier | "system";
  readonly overrides: readonly RateOverride[];
}

export interface StandingsOptions {
  readonly sql: Sql;
  /** What a tenant has as it stands now. */
  readonly terms: (tenant: string) => Promise<Pick<TenantTerms, "tier">>;
  /** Null: changes by other nodes are seen when what is remembered is old. */
  readonly notices: Pick<Notices, "on" | "tell"> | null;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Changes are promised to apply within 5 s, also where a notice is lost. */
const freshMs = 4000;
const maxRemembered = 10_000;

export function createStandings({ sql, terms, notices, now }: StandingsOptions): Standings {
  const remembered = new LRUCache<
    string,
    { readonly at: number; readonly overrides: Promise<readonly RateOverride[]> }
  >({ max: maxRemembered });
  // What is being read while a notice comes may be old already, so it is forgotten as well.
  const heard = () => remembered.clear();
  notices?.on("rates", heard);

  function overrides(tenant: string, user: RateUser | null): Promise<readonly RateOverride[]> {
    const key = user === null ? tenant : `${tenant} ${user.realm} ${user.userId}`;
    const known = remembered.get(key);
    const at = now();
    if (known !== undefined && at - known.at < freshMs) return known.overrides;
    const read = overridesFor(sql, tenant, user);
    const entry = { at, overrides: read };
    remembered.set(key, entry);
    read.catch(() => {
      if (remembered.peek(key) === entry) remembered.delete(key);
    });
    return read;
  }

  return {
    async of(slug, user) {
      const [{ tier }, found] = await Promise.all([terms(slug), overrides(slug, user)]);
      return { tier, overrides: found };
    },
    changed(tenant) {
      heard();
      notices?.tell("rates", tenant ?? "");
    },
  };
}
