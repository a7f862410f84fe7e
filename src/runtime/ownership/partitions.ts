/** How many partitions a database has: settled when the first node starts, changed by `resize` alone. */
import type { Sql } from "../../store/postgres/pool.ts";

/**
 * Sets the partitions up where there are none.
 * @param wanted their number in a new database
 * @returns their number in this one
 */
export async function settlePartitions(sql: Sql, wanted: number): Promise<number> {
  const count = await countPartitions(sql);
  if (count > 0) return count;
  return await sql.begin(async (tx) => {
    // Nodes that start together on a new database must not each set up a number of its own.
    await tx`lock table runtime_partitions in share row exclusive mode`;
    await tx`
      insert into runtime_partitions (partition)
      select generate_series(0, ${wanted - 1}) where not exists (select 1 from runtime_partitions)`;
    return await countPartitions(tx);
  });
}

/** 0 where no node has set the database up. */
async function countPartitions(sql: Pick<Sql, "unsafe">): Promise<number> {
  const [row] = await sql.unsafe<{ count: number }[]>("select count(*)::int as count from runtime_partitions");
  return row?.count ?? 0;
}
