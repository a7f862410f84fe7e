/** API keys as their owners have them: made, shown, rotated, ended (docs/reference/identity.md). */
import {
  earliest,
  isWithin,
  keyExpiry,
  keyScopes,
  maxActiveKeys,
  rotationTimes,
} from "../../../actors/identity/api-key.ts";
import { administers, type Identity } from "../../../actors/identity/identity.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { invalidField, Problem } from "../../../actors/kernel/problem.ts";
import { readTime } from "../../../actors/kernel/time.ts";
import { isStorable } from "../../../actors/manifest/storable.ts";
import type { Page } from "../../http/paging.ts";
import { invalidKey, type Keys } from "../../identity/callers/api-keys.ts";
import type { Users } from "../../identity/callers/users.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import { type Audit, type AuditedCall, auditedBy } from "../audit/port.ts";
import { type KeyRow, type KeyStatus, keyRecords } from "./records.ts";
import type { ApiKeyBody, CreateBody, NewApiKeyBody, RotateBody } from "./schema.ts";
import { newKeyValue, storedValue } from "./value.ts";

/** Who does it, as the audit log tells. */
export interface Caller extends AuditedCall {
  /** The effective tenant. */
  readonly tenant: string;
}

export interface ApiKeysOptions {
  readonly sql: Sql;
  readonly keys: Keys;
  readonly users: Pick<Users, "note">;
  readonly audit: Audit;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export type ApiKeys = ReturnType<typeof createApiKeys>;

export function createApiKeys({ sql, keys, users, audit, now }: ApiKeysOptions) {
  const records = keyRecords(sql);

  const mustExpire = ({ kind, role, clientId }: Identity): boolean =>
    kind === "operator" || (kind === "service_account" && (role !== null || keys.delegates(clientId)));

  /** Whose keys the caller sees and ends. @param all those of the whole tenant, where that is for the caller to decide */
  const ownerOf = ({ identity, tenant }: Caller, all: boolean): Identity | null =>
    all && administers(identity, tenant) ? null : identity;

  /** When the key ends that the caller came with; null: without end, or a token. @throws Problem 401 `invalid_api_key` */
  async function callersEnd(tx: Transaction, { keyId }: Identity): Promise<number | null> {
    if (keyId === null) return null;
    const parent = await records.lockLive(tx, keyId, now());
    if (parent === null) throw invalidKey();
    return parent.expires_at?.getTime() ?? null;
  }

  function record(
    tx: Transaction,
    caller: Caller,
    action: string,
    id: string,
    details: Readonly<Record<string, Json>>,
  ) {
    const change = { tenant: caller.tenant, action: `key.${action}`, target: { type: "api_key", id }, details };
    return audit.append(tx, auditedBy(caller), change);
  }

  return {
    /**
     * @param id of the piece of work; with the same id the same key gets another value, as the first was never sent
     * @throws Problem 401 `invalid_token`; 402 `quota_exceeded`; 403 `operator_required`, `scope_not_grantable`; 422
     *   `unknown_scope`
     */
    async create(caller: Caller, id: string, body: CreateBody): Promise<NewApiKeyBody> {
      const { identity, tenant } = caller;
      requireHome(caller);
      const name = checkedName(body.name);
      const scopes = keyScopes(body.scopes ?? null, identity.scopes);
      const requested = momentOf(body.expires_at);
      const value = newKeyValue();
      await records.exclusively(identity, async (tx) => {
        await keys.mayBeGiven(tx, identity);
        const parentEnds = await callersEnd(tx, identity);
        const createdAt = now();
        const times = { requested, mustExpire: mustExpire(identity), parentEnds, now: createdAt };
        const expiresAt = keyExpiry(times);
        const { keyId: parentId } = identity;
        const key = { id, name, scopes, parentId, createdAt, expiresAt, ...storedValue(value) };
        if (!(await records.create(tx, tenant, identity, key))) return;
        const used = await records.countActive(tx, identity, createdAt);
        if (used > maxActiveKeys) throw tooMany(used - 1);
        await users.note(tx, identity);
        const expires = expiresAt === null ? null : new Date(expiresAt).toISOString();
        await record(tx, caller, "created", id, { name, scopes, parent_key_id: parentId, expires_at: expires });
      });
      return issued(await one(caller, id, false), value);
    },

    async list(caller: Caller, status: KeyStatus | null, all: boolean, page: Page): Promise<readonly ApiKeyBody[]> {
      if (all && !administers(caller.identity, caller.tenant))
        throw new Problem("owner_only", "Only the owner and the admins of a tenant see every key");
      const rows = await records.list(caller.tenant, ownerOf(caller, all), status, now(), page);
      return rows.map(bodyOf);
    },

    /** @throws Problem 404 `api_key_not_found` */
    find: async (caller: Caller, id: string): Promise<ApiKeyBody> => bodyOf(await one(caller, id, true)),

    /** What the caller came with. @throws Problem 401 `invalid_api_key` for a token */
    async current({ identity: { keyId, homeTenant } }: Caller): Promise<KeyRow> {
      const row = keyId === null ? null : await records.find(homeTenant, null, keyId);
      if (row === null) throw invalidKey();
      return row;
    },

    /**
     * @param workId of the piece of work; with the same id the value that was never sent is replaced, and no other
     * @throws Problem 404 `api_key_not_found`, also for a key that has ended; 403 `scope_not_grantable`
     */
    async rotate(caller: Caller, id: string, workId: string, body: RotateBody): Promise<NewApiKeyBody> {
      const { identity } = caller;
      const requested = momentOf(body.expires_at);
      const value = newKeyValue();
      const { row, isNew } = await records.exclusively(identity, async (tx) => {
        const { key, parentEnds } = await lockOwn(tx, caller, id);
        if (!isWithin(key.scopes, identity.bound))
          throw new Problem("scope_not_grantable", "The key opens more than the caller may");
        const at = now();
        if (key.rotation_id === workId)
          return { row: await records.rotate(tx, id, storedValue(value), sameAgain(workId, at)), isNew: false };
        const times = rotationTimes({
          requested,
          mustExpire: mustExpire(identity),
          parentEnds,
          now: at,
          graceMs: body.grace_seconds * 1000,
          lifetimeMs: key.lifetime_seconds === null ? null : Number(key.lifetime_seconds) * 1000,
          formerEnds: key.expires_at?.getTime() ?? null,
        });
        const rotated = await records.rotate(tx, id, storedValue(value), { workId, ...times, now: at });
        await record(tx, caller, "rotated", id, {
          grace_seconds: body.grace_seconds,
          expires_at: rotated.expires_at?.toISOString() ?? null,
        });
        return { row: rotated, isNew: true };
      });
      if (isNew) keys.changed([id]);
      return issued(row, value);
    },

    /** @throws Problem 404 `api_key_not_found`: unknown, another's, ended before */
    async revoke(caller: Caller, id: string): Promise<void> {
      const { tenant } = caller;
      const ended = await sql.begin(async (tx) => {
        const key = await records.find(tenant, ownerOf(caller, true), id);
        const ids = key === null ? [] : await keys.revoke(tx, tenant, id);
        if (ids.length === 0) throw notFound();
        await record(tx, caller, "revoked", id, { with: ids.slice(1, 1 + maxTold), count: ids.length });
        return ids;
      });
      keys.changed(ended);
    },

    eraseEnded: records.eraseEnded,
  };

  /** @throws Problem 404 `api_key_not_found` */
  async function one(caller: Caller, id: string, all: boolean): Promise<KeyRow> {
    const row = await records.find(caller.tenant, ownerOf(caller, all), id);
    if (row === null) throw notFound();
    return row;
  }

  /** An active key of the caller's own. @throws Problem 404 `api_key_not_found` */
  async function lockOwn(tx: Transaction, { identity, tenant }: Caller, id: string) {
    const { keyId } = identity;
    // A key changes itself and what was made with it; the value of another would open what this one does not.
    if (keyId !== null && !(await records.descendsFrom(tx, id, keyId))) throw notFound();
    // From the oldest to the youngest, as revoking locks them.
    const callerEnds = keyId === id ? null : await callersEnd(tx, identity);
    const parentEnds = earliest(callerEnds, await endOfParent(tx, tenant, identity, id));
    const key = await records.lock(tx, tenant, identity, id);
    if (key === null || statusOf(key, now()) !== "active") throw notFound();
    return { key, parentEnds };
  }

  /** When the key ends that another was made with. @throws Problem 404 `api_key_not_found` where it has ended */
  async function endOfParent(tx: Transaction, tenant: string, owner: Identity, id: string): Promise<number | null> {
    const parentId = (await records.find(tenant, owner, id, tx))?.parent_id ?? null;
    if (parentId === null) return null;
    const parent = await records.lockLive(tx, parentId, now());
    if (parent === null) throw notFound();
    return parent.expires_at?.getTime() ?? null;
  }

  function bodyOf(row: KeyRow): ApiKeyBody {
    const time = (at: Date | null) => at?.toISOString() ?? null;
    return {
      id: row.id,
      name: row.name,
      scopes: [...row.scopes],
      prefix: row.prefix,
      last4: row.last4,
      status: statusOf(row, now()),
      owner_user_id: row.user_id,
      parent_key_id: row.parent_id,
      expires_at: time(row.expires_at),
      previous_expires_at: time(row.previous_expires_at),
      last_used: time(row.last_used_at),
      last_used_at: time(row.last_used_at),
      created_at: row.created_at.toISOString(),
    };
  }

  function issued(row: KeyRow, value: string): NewApiKeyBody {
    return { ...bodyOf(row), api_key: value, key: value, key_value: value };
  }
}

/** Ids told in an entry of the audit log. */
const maxTold = 100;
const maxNameBytes = 64;

const sameAgain = (workId: string, now: number) => ({ workId, previousUntil: null, expiresAt: null, now });

function statusOf({ revoked_at, expires_at }: KeyRow, now: number): KeyStatus {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && expires_at.getTime() <= now ? "expired" : "active";
}

/** An administrator who entered another tenant leaves nothing there that goes on opening it. */
function requireHome({ identity, tenant }: Caller): void {
  if (identity.kind === "operator" && tenant !== identity.homeTenant)
    throw new Problem("operator_required", "No key is made in a tenant that was entered");
}

function checkedName(name: string): string {
  if (Buffer.byteLength(name) > maxNameBytes) throw invalidField("name", `must have at most ${maxNameBytes} bytes`);
  if (!isStorable(name)) throw invalidField("name", "contains a NUL character or broken Unicode");
  return name;
}

/** Unix milliseconds; null: none was sent. @throws Problem 422 */
const momentOf = (text: string | undefined): number | null =>
  text === undefined ? null : readTime("expires_at", text).getTime();

const notFound = () => new Problem("api_key_not_found", "API key not found");

const tooMany = (used: number) =>
  new Problem("quota_exceeded", `At most ${maxActiveKeys} keys of one person or machine may be active`, {
    quota: "api_keys",
    limit: maxActiveKeys,
    used,
  });
