/** The SQL of API keys as their owners see them, tenant first. */
import type { Identity } from "../../../actors/identity/identity.ts";
import type { Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly prefix: string;
  readonly last4: string;
  readonly user_id: string;
  readonly parent_id: string | null;
  readonly expires_at: Date | null;
  readonly previous_expires_at: Date | null;
  readonly lifetime_seconds: string | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
  readonly created_at: Date;
  readonly rotation_id: string | null;
}

export type KeyStatus = "active" | "revoked" | "expired";

/** What is stored of a value. */
export interface StoredValue {
  readonly hash: string;
  readonly prefix: string;
  readonly last4: string;
}

export interface NewKey extends StoredValue {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly parentId: string | null;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

type Owner = Pick<Identity, "realm" | "userId">;

export function keyRecords(sql: Sql) {
  const columns = sql`id, name, scopes, prefix, last4, user_id, parent_id, expires_at, previous_expires_at,
    lifetime_seconds, revoked_at, last_used_at, created_at, rotation_id`;
  const date = (at: number | null) => (at === null ? null : new Date(at));

  return {
    /**
     * Oldest first; one row more than the page asks for when there are more.
     * @param owner null: the keys of all
     */
    async list(tenant: string, owner: Owner | null, status: KeyStatus | null, now: number, page: Page) {
      const [id = ""] = page.after ?? [];
      // A cursor that was tampered with finds nothing.
      if (page.after !== null && !isUuid(id)) return [];
      const of = owner === null ? sql`true` : sql`realm = ${owner.realm} and user_id = ${owner.userId}`;
      const from = page.after === null ? sql`true` : sql`id > ${id}::uuid`;
      const at = new Date(now);
      const live = sql`revoked_at is null and (expires_at is null or expires_at > ${at})`;
      const wanted = {
        active: live,
        revoked: sql`revoked_at is not null`,
        expired: sql`revoked_at is null and expires_at <= ${at}`,
      };
      return sql<KeyRow[]>`
        select ${columns} from api_keys
        where tenant = ${tenant} and ${of} and ${from} and ${status === null ? sql`true` : wanted[status]}
        order by id limit ${page.limit + 1} offset ${page.offset}`;
    },

    /** @param owner null: whose key it is does not matter */
    async find(
      tenant: string,
      owner: Owner | null,
      id: string,
      query: Sql | Transaction = sql,
    ): Promise<KeyRow | null> {
      const of = owner === null ? sql`true` : sql`realm = ${owner.realm} and user_id = ${owner.userId}`;
      const [row] = await query<KeyRow[]>`
        select ${columns} from api_keys where tenant = ${tenant} and id = ${id} and ${of}`;
      return row ?? null;
    },

    /** Changes of one person's keys take turns, so that what was counted is still true when the change is there. */
    exclusively<T>({ realm, userId }: Owner, work: (tx: Transaction) => Promise<T>): Promise<T> {
      return sql.begin(async (tx) => {
        await tx`select pg_advisory_xact_lock(hashtextextended(${`api_keys ${realm} ${userId}`}, 0))`;
        return work(tx);
      }) as Promise<T>;
    },

    /** In every tenant. */
    async countActive(tx: Transaction, { realm, userId }: Owner, now: number): Promise<number> {
      const [row] = await tx<{ count: number }[]>`
        select count(*)::int as count from api_keys
        where realm = ${realm} and user_id = ${userId} and revoked_at is null
          and (expires_at is null or expires_at > ${new Date(now)})`;
      return row?.count ?? 0;
    },

    /** A key that another is made with; nothing ends it before the transaction is over. Null: it is no key any more. */
    async lockLive(tx: Transaction, id: string, now: number): Promise<Pick<KeyRow, "expires_at"> | null> {
      const [row] = await tx<Pick<KeyRow, "expires_at">[]>`
        select expires_at from api_keys
        where id = ${id} and revoked_at is null and (expires_at is null or expires_at > ${new Date(now)})
        for share`;
      return row ?? null;
    },

    /** A repeat of the same piece of work, whose answer was never sent, gets another value. @returns whether it is new */
    async create(tx: Transaction, tenant: string, owner: Identity, key: NewKey): Promise<boolean> {
      const lifetime = key.expiresAt === null ? null : Math.ceil((key.expiresAt - key.createdAt) / 1000);
      const [row] = await tx<{ fresh: boolean }[]>`
        insert into api_keys (id, tenant, realm, user_id, kind, client_id, name, scopes, hash, prefix, last4,
          parent_id, expires_at, lifetime_seconds, created_at)
        values (${key.id}, ${tenant}, ${owner.realm}, ${owner.userId}, ${owner.kind}, ${owner.clientId}, ${key.name},
          ${[...key.scopes]}, ${key.hash}, ${key.prefix}, ${key.last4}, ${key.parentId}, ${date(key.expiresAt)},
          ${lifetime}, ${new Date(key.createdAt)})
        on conflict (id) do update set hash = excluded.hash, prefix = excluded.prefix, last4 = excluded.last4
        returning xmax = 0 as fresh`;
      return row?.fresh === true;
    },

    /** For a change within the transaction. */
    async lock(tx: Transaction, tenant: string, { realm, userId }: Owner, id: string): Promise<KeyRow | null> {
      const [row] = await tx<KeyRow[]>`
        select ${columns} from api_keys
        where tenant = ${tenant} and id = ${id} and realm = ${realm} and user_id = ${userId} for update`;
      return row ?? null;
    },

    /** Whether a key is the other one, or was made with it, directly or through others. */
    async descendsFrom(tx: Transaction, id: string, ancestor: string): Promise<boolean> {
      const [row] = await tx<{ found: boolean }[]>`
        with recursive line as (
          select id, parent_id from api_keys where id = ${id}
          union all select k.id, k.parent_id from api_keys k join line on k.id = line.parent_id)
        select exists (select 1 from line where id = ${ancestor}) as found`;
      return row?.found === true;
    },

    /**
     * Gives a key another value.
     * @param previousUntil until when the former one holds, Unix milliseconds; null: the former one is the answer of the
     *   same piece of work that was never sent, and nothing else changes
     */
    async rotate(
      tx: Transaction,
      id: string,
      value: StoredValue,
      change: {
        readonly workId: string;
        readonly previousUntil: number | null;
        readonly expiresAt: number | null;
        readonly now: number;
      },
    ): Promise<KeyRow> {
      const { workId, previousUntil, expiresAt, now } = change;
      const lifetime = expiresAt === null ? null : Math.ceil((expiresAt - now) / 1000);
      const shifted =
        previousUntil === null
          ? sql``
          : sql`
        previous_hash = hash, previous_expires_at = ${new Date(previousUntil)}, rotated_at = ${new Date(now)},
        expires_at = ${date(expiresAt)}, lifetime_seconds = ${lifetime}, rotation_id = ${workId},`;
      const [row] = await tx<[KeyRow]>`
        update api_keys set ${shifted} hash = ${value.hash}, prefix = ${value.prefix}, last4 = ${value.last4}
        where id = ${id} returning ${columns}`;
      return row;
    },

    /** Erases keys that ended before a moment, those first that ended first. @returns how many */
    async eraseEnded(before: Date, limit: number): Promise<number> {
      const { count } = await sql`
        delete from api_keys where id in (
          select id from api_keys where least(revoked_at, expires_at) < ${before}
          order by least(revoked_at, expires_at) limit ${limit})`;
      return count;
    },
  };
}
