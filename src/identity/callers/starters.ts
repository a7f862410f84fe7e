/**
 * Starters as they stand now: whom a management tool acts for. A token is not asked again, so what counts is what the
 * records say of its bearer: the membership, the role of the newest token that came in, the key. Answers are at most 3 s
 * old, and at most until a notice of a change.
 */
import { createHash } from "node:crypto";
import { type Identity, type Membership, type Role, systemTenant } from "../../../actors/identity/identity.ts";
import { effectiveRole } from "../../../actors/identity/membership.ts";
import { scopesWithin } from "../../../actors/identity/scopes.ts";
import { narrowedTo, type Starter } from "../../../actors/identity/starter.ts";
import { consumerTenant, isEnterpriseSlug, tenantKind } from "../../../actors/identity/tenant.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Notices } from "../../store/redis/notices.ts";
import { FreshCache } from "../fresh-cache.ts";
import type { Keys } from "./api-keys.ts";
import type { Members } from "./members.ts";

export interface Starters {
  /**
   * The starter with the scopes that were captured and are still held.
   * @param tenant in which it acts
   * @returns null: the key has ended, the membership was revoked, or the person may not come in any more
   * @throws Problem 503 while the records cannot be read
   */
  identityOf(starter: Starter, tenant: string): Promise<Identity | null>;
  /** The address that a token of the person has vouched for last; null: none has. @throws when the records cannot be read */
  addressOf(starter: Pick<Starter, "realm" | "sub">): Promise<string | null>;
  /** Registers who knows that a person of a realm was deactivated or removed. */
  guardedBy(guard: StarterGuard): void;
}

/** Whether a person may still come in. */
export type StarterGuard = (person: Pick<Starter, "realm" | "kind" | "sub">) => Promise<boolean>;

export interface StartersOptions {
  readonly sql: Sql;
  readonly keys: Pick<Keys, "identityOfKey">;
  readonly members: Pick<Members, "find">;
  /** Whether a client is a machine of this installation: then it needs no role. */
  readonly isListed: (clientId: string) => boolean;
  /** Of other nodes' changes; null: these are seen after 3 s. */
  readonly notices: Pick<Notices, "on"> | null;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const maxRemembered = 10_000;

interface Known {
  readonly identity: Identity | null;
}

/** What the newest token that came in said of its bearer. */
interface Seen {
  readonly client_id: string | null;
  readonly email: string | null;
  readonly role: Role | null;
  readonly member_role: Membership | null;
}

export function createStarters({ sql, keys, members, isListed, notices, now }: StartersOptions): Starters {
  const known = new FreshCache<Known>(maxRemembered, now);
  const guards: StarterGuard[] = [];
  // A change of one is rare; all are read anew then.
  for (const topic of ["member", "key"] as const) notices?.on(topic, () => known.forget());

  async function read(starter: Starter, tenant: string): Promise<Identity | null> {
    for (const guard of guards) if (!(await guard(starter))) return null;
    try {
      return starter.key_id === null
        ? await ofToken(starter, tenant)
        : await keys.identityOfKey(starter.key_id, starter);
    } catch (error) {
      if (error instanceof Problem && error.status < 500) return null;
      throw error;
    }
  }

  async function ofToken(starter: Starter, tenant: string): Promise<Identity | null> {
    const { realm, kind, sub } = starter;
    const [seen] = await sql<Seen[]>`
      select client_id, email, role, member_role from users where realm = ${realm} and user_id = ${sub}`;
    // Sightings are written behind the requests: until then nothing newer is known than what was captured.
    const { client_id = null, email = null, role = starter.role, member_role = null } = seen ?? {};
    const membership = await membershipNow(starter, tenant, member_role);
    if (membership === "none") return null;
    const isPlatform = kind === "operator" || kind === "service_account";
    const facts = { kind, role: isPlatform ? role : null, membership };
    const isKnown = role !== null || (kind === "service_account" && client_id !== null && isListed(client_id));
    return {
      ...facts,
      userId: sub,
      realm,
      tier: null,
      homeTenant: homeOf(starter, tenant),
      clientId: client_id,
      keyId: null,
      keyDigest: null,
      issuedAt: null,
      email,
      bound: null,
      // A person of the platform without a role, and a machine that is none of this installation's, may nothing.
      scopes: isPlatform && seen !== undefined && !isKnown ? new Set() : scopesWithin(facts, null),
    };
  }

  /** What the starter is in the tenant now; `none`: no member any more. */
  async function membershipNow(
    { realm, kind, sub }: Starter,
    tenant: string,
    claimed: Membership | null,
  ): Promise<Membership | null | "none"> {
    if (kind === "operator" || kind === "service_account") return null;
    const isTeam = tenantKind(tenant) === "team";
    if (kind === "consumer" && !isTeam) return isEnterpriseSlug(tenant) ? "member" : null;
    const stored = await members.find(tenant, { realm, userId: sub });
    if (stored === null) return "none";
    return isTeam ? stored : effectiveRole(stored, claimed);
  }

  return {
    async identityOf(starter, tenant) {
      const name = JSON.stringify([tenant, starter.realm, starter.kind, starter.sub, starter.role, starter.key_id]);
      const { identity } = await known.get(name, async () => ({ identity: await read(starter, tenant) }));
      return identity === null ? null : narrowedTo(starter, identity);
    },
    async addressOf({ realm, sub }) {
      const [row] = await sql<{ email: string | null }[]>`
        select email from users where realm = ${realm} and user_id = ${sub}`;
      return row?.email ?? null;
    },
    guardedBy: (guard) => void guards.push(guard),
  };
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Where the starter acts when no header says otherwise. */
function homeOf({ kind, sub, realm }: Starter, tenant: string): string {
  if (kind === "consumer") return isEnterpriseSlug(tenant) ? tenant : consumerTenant(sub, sha256);
  if (kind === "tenant_user") return realm.startsWith("tenant-") ? realm.slice("tenant-".length) : tenant;
  return systemTenant;
}
