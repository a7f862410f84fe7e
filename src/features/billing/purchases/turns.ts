/** Turns: of all nodes one at a time changes something of a tenant at the provider. */
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { Sql } from "../../../store/postgres/pool.ts";

/** How long a turn lasts without being renewed. A node that dies holds up its tenant no longer. */
const holdSeconds = 20;
const renewEveryMs = 5_000;
/** How long a call waits for its turn. */
const waitMs = 25_000;

export interface TurnsOptions {
  readonly sql: Sql;
  /** A fresh UUID. */
  readonly newId: () => string;
}

export type InTurn = <T>(tenant: string, work: () => Promise<T>) => Promise<T>;

/** @returns runs the work in the tenant's turn; it throws Problem 503 `service_unavailable` where none comes */
export function createTurns({ sql, newId }: TurnsOptions): InTurn {
  async function take(tenant: string, holder: string): Promise<boolean> {
    const { count } = await sql`
      insert into billing_turns as t (tenant, held_by, held_until)
      values (${tenant}, ${holder}, now() + ${holdSeconds} * interval '1 second')
      on conflict (tenant) do update set held_by = excluded.held_by, held_until = excluded.held_until
        where t.held_until is null or t.held_until < now()`;
    return count > 0;
  }

  async function taken(tenant: string, holder: string): Promise<void> {
    const endsAt = performance.now() + waitMs;
    for (let pauseMs = 25; !(await take(tenant, holder)); pauseMs = Math.min(500, pauseMs * 1.5)) {
      if (performance.now() > endsAt) {
        const message = "Another change of this subscription is under way";
        throw new Problem("service_unavailable", message, {}, { "Retry-After": "5" });
      }
      await Bun.sleep(pauseMs);
    }
  }

  return async (tenant, work) => {
    const holder = newId();
    await taken(tenant, holder);
    const renew = () => sql`
      update billing_turns set held_until = now() + ${holdSeconds} * interval '1 second'
      where tenant = ${tenant} and held_by = ${holder} and held_until is not null`;
    const renewal = setInterval(() => void renew().catch(() => {}), renewEveryMs);
    try {
      return await work();
    } finally {
      clearInterval(renewal);
      // One that cannot be ended now ends by itself.
      await sql`update billing_turns set held_by = null, held_until = null
        where tenant = ${tenant} and held_by = ${holder}`.catch(() => {});
    }
  };
}
