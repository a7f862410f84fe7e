/**
 * API keys as callers: whose a value is, and what it opens now. What is stored of a key is remembered for 3 s, and at
 * most until a notice of its end, so that a busy key costs no query per request.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Identity, Membership, Role } from "../../../actors/identity/identity.ts";
import { effectiveRole } from "../../../actors/identity/membership.ts";
import { scopesWithin, withImplied } from "../../../actors/identity/scopes.ts";
import { isEnterpriseSlug, tenantKind } from "../../../actors/identity/tenant.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { inBatches } from "../../store/batches.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import type { Notices } from "../../store/redis/notices.ts";
import { FreshCache } from "../fresh-cache.ts";
import { RefusedCaller } from "../refused-caller.ts";
import { type Members, membershipRevoked } from "./members.ts";

/** Whose keys are meant: those that have all of the members given. */
export interface KeysOf {
  readonly tenant?: string;
  readonly realm?: string;
  readonly userId?: string;
}

/** Whether a person may be given a key now. @throws Problem where not */
export type KeyGuard = (tx: Transaction, owner: Pick<Identity, "kind" | "realm" | "userId">) => Promise<void>;

export interface Keys {
  /**
   * Whom a value speaks for.
   * @throws Problem 401 `invalid_api_key`, 403 `membership_revoked`
   */
  identify(value: string): Promise<Identity>;
  /**
   * Whom a key speaks for now, without its value.
   * @returns null: it has ended, or is another's @throws Problem 403 `membership_revoked`
   */
  identityOfKey(id: string, owner: { readonly realm: string; readonly sub: string }): Promise<Identity | null>;
  /**
   * Ends keys, with those that were made with them, in the transaction of what ends them.
   * @returns their ids, for `ended` after the commit
   */
  revokeOf(tx: Transaction, of: KeysOf): Promise<readonly string[]>;
  /** The same for one key. @returns empty when it was revoked before */
  revoke(tx: Transaction, tenant: string, id: string): Promise<readonly string[]>;
  /** Called in the transaction that gives a caller a key. @throws Problem 401 `invalid_token` for a person who may not come in any more */
  readonly mayBeGiven: KeyGuard;
  /** Registers who knows that better than a token, which may be older than its person's end. */
  guardedBy(guard: KeyGuard): void;
  /** Whether a client may act in tenants other than its own: then its keys have to expire. */
  delegates(clientId: string | null): boolean;
  /** Has every node read these keys anew; call it after the commit that ended or rotated them. */
  changed(ids: readonly string[]): void;
}

/** `svc_` and 40 characters: 238 random bits. */
const form = /^svc_[0-9A-Za-z]{40}$/;

/** What is stored of a value. */
export const keyDigest = (value: string): string => createHash("sha256").update(value).digest("hex");

const maxRemembered = 10_000;
/** Values that open nothing: a client that goes on with an ended key costs no query per request. */
const maxRefused = 1_000;
/** A notice about each of more keys than this would cost more than reading all keys anew. */
const maxNotices = 20;
const allKeys = "*";
const usedEveryMs = 60_000;
const useLimits = { rows: 500, statements: 1 };
/** Uses that wait to be written while the database is slow; further ones are noted with the next use. */
const maxWaiting = 5_000;

export interface KeysOptions {
  readonly sql: Sql;
  readonly members: Pick<Members, "find">;
  /** Whether a client is a machine of this installation: then it needs no role, and may act in tenants. */
  readonly isListed: (clientId: string) => boolean;
  /** Of other nodes' changes; null: these are seen after 3 s. */
  readonly notices: Pick<Notices, "on" | "tell"> | null;
  /** Unix milliseconds. */
  readonly now: () => number;
}

interface Row {
  /** Of the value that was presented. */
  readonly digest: string;
  readonly id: string;
  readonly tenant: string;
  readonly realm: string;
  readonly user_id: string;
  readonly kind: Identity["kind"];
  readonly client_id: string | null;
  readonly scopes: readonly string[];
  /** The same value's; null: without end. */
  readonly ends_at: Date | null;
  readonly last_used_at: Date | null;
  /** Of the owner, by the newest token. */
  readonly email: string | null;
  readonly role: Role | null;
  readonly member_role: Membership | null;
}

/** A value that opens. */
interface Known {
  readonly row: Row;
  /** Unix milliseconds. */
  usedAt: number;
  /** Made for the membership that it was made with. */
  identity: Identity | null;
}

export function createKeys({ sql, members, isListed, notices, now }: KeysOptions): Keys {
  const opening = new FreshCache<Known>(maxRemembered, now);
  /** A value that opens nothing never opens again. */
  const refused = new LRUCache<string, true>({ max: maxRefused });
  const use = inBatches((ids: readonly string[]) => writeUses(sql, ids), useLimits);
  let waiting = 0;
  const guards: KeyGuard[] = [];

  function forget(id: string | null): void {
    opening.forget(({ row }) => id === null || id === allKeys || row.id === id);
  }
  notices?.on("key", forget);

  /** One answer and one way for values that were never given and for those that ended. */
  async function find(value: string): Promise<Known> {
    const digest = keyDigest(value);
    if (refused.has(digest)) throw invalidKey();
    const read = async (): Promise<Known> => {
      const row = await load(sql, digest);
      if (row !== null && !hasEnded(row)) return { row, usedAt: row.last_used_at?.getTime() ?? 0, identity: null };
      refused.set(digest, true);
      throw invalidKey();
    };
    const known = await opening.get(digest, read);
    if (hasEnded(known.row)) throw invalidKey();
    return known;
  }

  const hasEnded = ({ ends_at }: Row): boolean => ends_at !== null && ends_at.getTime() <= now();

  /** What the owner is in the tenant of the key now. @throws Problem 403 `membership_revoked` */
  async function membershipOf({ kind, tenant, realm, user_id, member_role }: Row): Promise<Membership | null> {
    if (kind === "consumer" && isEnterpriseSlug(tenant)) return "member";
    // Machines are no members of the tenants that they are sent to.
    const isTeam = tenantKind(tenant) === "team" && kind !== "service_account";
    if (!isTeam && kind !== "tenant_user") return null;
    const stored = await members.find(tenant, { realm, userId: user_id });
    if (stored === null) throw membershipRevoked();
    return isTeam ? stored : effectiveRole(stored, member_role);
  }

  function noteUse(known: Known, id: string): void {
    if (now() - known.usedAt < usedEveryMs || waiting >= maxWaiting) return;
    known.usedAt = now();
    waiting++;
    void use(id)
      .catch(() => {})
      .finally(() => waiting--);
  }

  return {
    async identify(value) {
      if (!form.test(value)) throw invalidKey();
      const known = await find(value);
      const { row } = known;
      const membership = await membershipOf(row).catch((error: unknown) => {
        throw RefusedCaller.from(error, identityOf(row, null, isListed));
      });
      noteUse(known, row.id);
      if (known.identity?.membership !== membership) known.identity = null;
      known.identity ??= identityOf(row, membership, isListed);
      return known.identity;
    },
    async identityOfKey(id, { realm, sub }) {
      const [row] = await sql<Row[]>`
        select k.hash as digest, k.id, k.tenant, k.realm, k.user_id, k.kind, k.client_id, k.scopes, k.last_used_at,
          k.expires_at as ends_at, u.email, u.role, u.member_role
        from api_keys k left join users u on u.realm = k.realm and u.user_id = k.user_id
        where k.id::text = ${id} and k.realm = ${realm} and k.user_id = ${sub} and k.revoked_at is null`;
      if (row === undefined || hasEnded(row)) return null;
      return identityOf(row, await membershipOf(row), isListed);
    },
    async revokeOf(tx, { tenant = null, realm = null, userId = null }) {
      return revokeTree(
        tx,
        await tx<{ id: string }[]>`
          select id from api_keys where revoked_at is null and (${tenant}::text is null or tenant = ${tenant})
            and (${realm}::text is null or realm = ${realm}) and (${userId}::text is null or user_id = ${userId})
          order by id for update`,
      );
    },
    async revoke(tx, tenant, id) {
      return revokeTree(
        tx,
        await tx<
          { id: string }[]
        >`select id from api_keys where id = ${id} and tenant = ${tenant} and revoked_at is null`,
      );
    },
    async mayBeGiven(tx, owner) {
      for (const guard of guards) await guard(tx, owner);
    },
    guardedBy: (guard) => void guards.push(guard),
    delegates: (clientId) => clientId !== null && isListed(clientId),
    changed(ids) {
      for (const id of ids.length > maxNotices ? [allKeys] : ids) {
        forget(id);
        notices?.tell("key", id);
      }
    },
  };
}

async function load(sql: Sql, digest: string): Promise<Row | null> {
  const [row] = await sql<Row[]>`
    select ${digest}::text as digest, k.id, k.tenant, k.realm, k.user_id, k.kind, k.client_id, k.scopes, k.last_used_at,
      case when k.hash = ${digest} then k.expires_at else least(k.previous_expires_at, k.expires_at) end as ends_at,
      u.email, u.role, u.member_role
    from api_keys k left join users u on u.realm = k.realm and u.user_id = k.user_id
    where (k.hash = ${digest} or k.previous_hash = ${digest}) and k.revoked_at is null`;
  return row ?? null;
}

/** What the owner may now, as far as the key opens it. */
function identityOf(row: Row, membership: Membership | null, isListed: (clientId: string) => boolean): Identity {
  const { kind, role, client_id } = row;
  const bound = withImplied(new Set(row.scopes));
  // A person of the platform without a role, and a machine that is neither one of this installation, may nothing.
  const isKnown = role !== null || (kind === "service_account" && client_id !== null && isListed(client_id));
  const isPlatform = kind === "operator" || kind === "service_account";
  const facts = { kind, role: isPlatform ? role : null, membership };
  return {
    ...facts,
    userId: row.user_id,
    realm: row.realm,
    tier: null,
    homeTenant: row.tenant,
    clientId: client_id,
    keyId: row.id,
    keyDigest: row.digest,
    issuedAt: null,
    email: row.email,
    bound,
    scopes: isPlatform && !isKnown ? new Set() : scopesWithin(facts, bound),
  };
}

/**
 * Level by level: what was made with a key while it was being ended is found by the next statement. Rows are locked from
 * the oldest on, as everything does that locks several keys: the one a key was made with is older than it.
 */
async function revokeTree(tx: Transaction, roots: readonly { readonly id: string }[]): Promise<readonly string[]> {
  const ended: string[] = [];
  let level = roots.map(({ id }) => id);
  while (level.length > 0) {
    await tx`update api_keys set revoked_at = now() where id = any(${level}::uuid[])`;
    ended.push(...level);
    const next = await tx<{ id: string }[]>`
      select id from api_keys where parent_id = any(${level}::uuid[]) and revoked_at is null order by id for update`;
    level = next.map(({ id }) => id);
  }
  return ended;
}

/** Nodes write the same key at once: the first within a minute counts. Rows are locked in one order. */
async function writeUses(sql: Sql, ids: readonly string[]): Promise<readonly null[]> {
  await sql`
    update api_keys set last_used_at = now()
    from (select id from api_keys where id = any(${[...new Set(ids)]}::uuid[])
        and (last_used_at is null or last_used_at < now() - ${usedEveryMs} * interval '1 millisecond')
      order by id for update) as used
    where api_keys.id = used.id`;
  return ids.map(() => null);
}

/** One answer for values that were never given, ended or expired. */
export const invalidKey = () => new Problem("invalid_api_key", "The API key is not valid");
