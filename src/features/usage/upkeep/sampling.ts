/** Storage, looked at once in each hour by one node. An hour in which no node was up has no sample; none is made up. */
import { numbers, texts } from "../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";

/** Bytes in all volumes of a tenant. */
export interface Held {
  readonly tenant: string;
  readonly bytes: number;
}

export interface SamplingOptions {
  readonly sql: Sql;
  /** Tenants with volumes, by name. @param after the last one seen; "" to begin */
  readonly held: (query: Transaction, after: string, limit: number) => Promise<readonly Held[]>;
}

const atOnce = 1_000;

/** Takes the sample of this hour, unless that was done. @returns whether it did */
export const sampleStorage = ({ sql, held }: SamplingOptions): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [mark] = await tx<{ hour: Date }[]>`
      select date_trunc('hour', clock_timestamp(), 'UTC') as hour from usage_progress
      where sampled is distinct from date_trunc('hour', clock_timestamp(), 'UTC') for update skip locked`;
    if (mark === undefined) return false;
    for (let after = ""; ; ) {
      const some = await held(tx, after, atOnce);
      const last = some.at(-1);
      if (last === undefined) break;
      after = last.tenant;
      await tx`
        insert into usage_storage (tenant, hour, bytes)
        select tenant, ${mark.hour}, bytes
        from unnest(${texts(some.map(({ tenant }) => tenant))}::text[],
          ${numbers(some.map(({ bytes }) => bytes))}::bigint[]) as u (tenant, bytes)
        where bytes > 0 on conflict do nothing`;
    }
    await tx`update usage_progress set sampled = ${mark.hour}`;
    return true;
  });
