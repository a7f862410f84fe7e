/** Wrong passwords and codes of an account, counted for all nodes together, also where there is no such account. */
import { beginSignIn, type SignInFailures, withoutAttempt } from "../../../../actors/identity/password.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { lockKey } from "./records.ts";

/** An account, by what a person types. */
export interface Account {
  readonly realm: string;
  readonly tenant: string;
  readonly address: string;
}

export interface Attempt {
  /** False: the account is locked, and nothing that is typed lets in. */
  readonly isAllowed: boolean;
  /** Whether the account is locked if this one fails. */
  readonly locks: boolean;
  /** It was right as far as it went: it does not count. */
  takeBack(): Promise<void>;
}

export interface Attempts {
  begin(account: Account): Promise<Attempt>;
  /** Nothing of it counts any more. */
  forget(account: Pick<Account, "realm" | "address">, tx?: Transaction): Promise<void>;
  /** Forgets what is over. */
  sweep(): Promise<void>;
}

export function createAttempts(sql: Sql, now: () => number): Attempts {
  async function changed<T>(
    { realm, tenant, address }: Account,
    change: (known: SignInFailures) => { readonly failures: SignInFailures; readonly result: T },
  ): Promise<T> {
    const key = lockKey(address);
    return (await sql.begin(async (tx) => {
      await tx`
        insert into sign_in_failures (realm, address, tenant, failed_at) values (${realm}, ${key}, ${tenant}, '{}')
        on conflict do nothing`;
      const [row] = await tx<{ failed_at: Date[]; locked_until: Date | null }[]>`
        select failed_at, locked_until from sign_in_failures where realm = ${realm} and address = ${key} for update`;
      const known = {
        at: (row?.failed_at ?? []).map((date) => date.getTime()),
        lockedUntil: row?.locked_until?.getTime() ?? null,
      };
      const { failures, result } = change(known);
      await tx`
        update sign_in_failures set failed_at = ${texts(failures.at.map((at) => new Date(at).toISOString()))}::text::timestamptz[],
          locked_until = ${failures.lockedUntil === null ? null : new Date(failures.lockedUntil)}
        where realm = ${realm} and address = ${key}`;
      return result;
    })) as T;
  }

  return {
    async begin(account) {
      const at = now();
      const { isAllowed, locks } = await changed(account, (known) => {
        const { isAllowed, failures } = beginSignIn(known, at);
        return { failures, result: { isAllowed, locks: isAllowed && failures.lockedUntil !== null } };
      });
      return {
        isAllowed,
        locks,
        takeBack: async () => {
          if (isAllowed)
            await changed(account, (known) => ({ failures: withoutAttempt(known, at), result: undefined }));
        },
      };
    },
    async forget({ realm, address }, tx) {
      await (tx ?? sql)`delete from sign_in_failures where realm = ${realm} and address = ${lockKey(address)}`;
    },
    async sweep() {
      const before = new Date(now() - 3600_000);
      await sql`
        delete from sign_in_failures where coalesce(locked_until, '-infinity') < ${before}
          and coalesce(failed_at[cardinality(failed_at)], '-infinity') < ${before}`;
    },
  };
}
