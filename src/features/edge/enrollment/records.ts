/** The SQL of enrollment tokens, tenant first. */
import type { TokenStatus } from "../../../../actors/edge/enrollment.ts";
import type { Page } from "../../../http/paging.ts";
import { isUuid } from "../../../http/route.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";

export interface TokenRow {
  readonly id: string;
  readonly tenant: string;
  readonly name: string | null;
  readonly tags: readonly string[];
  readonly issued_by: string;
  readonly issued_at: Date;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly redeemed_at: Date | null;
  readonly redeemed_key: Buffer | null;
  readonly host_id: string | null;
}

/** How long what is known of tokens is kept, days. */
const keptDays = 90;

export type TokenRecords = ReturnType<typeof tokenRecords>;

export function tokenRecords(sql: Sql) {
  const columns = sql`id, tenant, name, tags, issued_by, issued_at, expires_at, revoked_at, redeemed_at, redeemed_key,
    host_id`;
  return {
    /** A repeat of the same piece of work, whose answer was never sent, gets another text. @returns whether it is new */
    async insert(
      tx: Transaction,
      token: Pick<TokenRow, "id" | "tenant" | "name" | "tags" | "issued_by" | "issued_at" | "expires_at">,
      digest: Uint8Array,
    ): Promise<boolean> {
      const [row] = await tx<{ fresh: boolean }[]>`
        insert into edge_enrollment_tokens (id, tenant, name, tags, digest, issued_by, issued_at, expires_at)
        values (${token.id}, ${token.tenant}, ${token.name}, ${texts(token.tags)}::text[], ${Buffer.from(digest)},
          ${token.issued_by}, ${token.issued_at}, ${token.expires_at})
        on conflict (id) do update set digest = excluded.digest, issued_at = excluded.issued_at,
          expires_at = excluded.expires_at
        returning xmax = 0 as fresh`;
      return row?.fresh === true;
    },

    /** Tokens of one tenant are issued one after another. @param now Unix milliseconds */
    async countOutstanding(tx: Transaction, tenant: string, now: number): Promise<number> {
      await tx`select pg_advisory_xact_lock(hashtextextended(${`edge tokens of ${tenant}`}, 0))`;
      const [row] = await tx<{ count: number }[]>`
        select count(*)::int as count from edge_enrollment_tokens
        where tenant = ${tenant} and revoked_at is null and redeemed_at is null and expires_at > ${new Date(now)}`;
      return row?.count ?? 0;
    },

    /** Newest first; one row more than the page asks for when there are more. @param now Unix milliseconds */
    async list(tenant: string, status: TokenStatus | null, now: number, page: Page): Promise<readonly TokenRow[]> {
      const [at = "", id = ""] = page.after ?? [];
      // A cursor that was tampered with finds nothing.
      if (page.after !== null && !(/^\d{1,14}$/.test(at) && isUuid(id))) return [];
      const from =
        page.after === null ? sql`true` : sql`(issued_at, id) < (to_timestamp(${at}::bigint / 1000.0), ${id}::uuid)`;
      const unused = sql`redeemed_at is null and revoked_at is null`;
      const moment = new Date(now);
      const wanted = {
        redeemed: sql`redeemed_at is not null`,
        revoked: sql`redeemed_at is null and revoked_at is not null`,
        expired: sql`${unused} and expires_at <= ${moment}`,
        outstanding: sql`${unused} and expires_at > ${moment}`,
      };
      return sql<TokenRow[]>`
        select ${columns} from edge_enrollment_tokens
        where tenant = ${tenant} and ${from} and ${status === null ? sql`true` : wanted[status]}
        order by issued_at desc, id desc limit ${page.limit + 1} offset ${page.offset}`;
    },

    async lock(tx: Transaction, tenant: string, id: string): Promise<TokenRow | null> {
      const [row] = await tx<TokenRow[]>`
        select ${columns} from edge_enrollment_tokens where tenant = ${tenant} and id = ${id} for update`;
      return row ?? null;
    },

    /** The one of just this text. */
    async lockByDigest(tx: Transaction, tenant: string, id: string, digest: Uint8Array): Promise<TokenRow | null> {
      const [row] = await tx<TokenRow[]>`
        select ${columns} from edge_enrollment_tokens
        where tenant = ${tenant} and id = ${id} and digest = ${Buffer.from(digest)} for update`;
      return row ?? null;
    },

    async redeem(tx: Transaction, id: string, key: Uint8Array, hostId: string): Promise<void> {
      await tx`
        update edge_enrollment_tokens
        set redeemed_at = clock_timestamp(), redeemed_key = ${Buffer.from(key)}, host_id = ${hostId}
        where id = ${id}`;
    },

    async revoke(tx: Transaction, tenant: string, id: string): Promise<void> {
      await tx`
        update edge_enrollment_tokens set revoked_at = clock_timestamp()
        where tenant = ${tenant} and id = ${id} and revoked_at is null`;
    },

    /** @returns how many */
    async erase(limit: number): Promise<number> {
      const { count } = await sql`
        delete from edge_enrollment_tokens where id in (
          select id from edge_enrollment_tokens where expires_at < now() - make_interval(days => ${keptDays})
          order by expires_at limit ${limit})`;
      return count;
    },
  };
}
