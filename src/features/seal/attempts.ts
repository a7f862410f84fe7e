/** How many tool calls a caller without a session may try: as many as a session. Counted in PostgreSQL for all nodes. */
import type { Sql } from "../../store/postgres/pool.ts";
import { attemptsBurst, attemptsPerSecond } from "./sessions/records.ts";

export interface Attempts {
  /** Takes one. @returns seconds to wait for the next one; null: this one is taken */
  take(tenant: string, principal: string): Promise<number | null>;
}

export function createAttempts(sql: Sql): Attempts & { clear(): Promise<void> } {
  return {
    async take(tenant, principal) {
      const [row] = await sql`
        insert into tool_call_attempts as a (tenant, principal, attempts_left)
        values (${tenant}, ${principal}, ${attemptsBurst - 1})
        on conflict (tenant, principal) do update set attempts_at = clock_timestamp(), attempts_left = least(
          ${attemptsBurst}, a.attempts_left
            + ${attemptsPerSecond} * greatest(0, extract(epoch from clock_timestamp() - a.attempts_at)::float8)) - 1
        where least(${attemptsBurst}, a.attempts_left
          + ${attemptsPerSecond} * greatest(0, extract(epoch from clock_timestamp() - a.attempts_at)::float8)) >= 1
        returning 1`;
      return row === undefined ? 1 : null;
    },
    /** Callers whose burst is whole again need no row. */
    async clear() {
      await sql`delete from tool_call_attempts where attempts_at < now() - interval '1 hour'`;
    },
  };
}
