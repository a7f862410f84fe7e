/** How many partitions a database has: settled when the first node starts, changed by `../resize` alone. */
import type { Sql } from "../../store/postgres/pool.ts";

export interface Partitioning {
  /** How many partitions there are. */
  readonly count: number;
  /** How often their number was changed. */
  readonly generation: number;
}

/** The number of partitions is not the one that this node started with: it owns nothing more, and has to start anew. */
export class PartitionsResized extends Error {
  override readonly name = "PartitionsResized";

  constructor() {
    super("The number of partitions was changed: this node has to be started again");
  }
}

/**
 * Sets the partitions up where there are none.
 * @param wanted their number in a new database
 * @returns how they are in this one
 */
export async function settlePartitions(sql: Sql, wanted: number): Promise<Partitioning> {
  const found = await readPartitioning(sql);
  if (found.count > 0) return found;
  return await sql.begin(async (tx) => {
    // Nodes that start together on a new database must not each set up a number of its own.
    await tx`lock table runtime_partitions in share row exclusive mode`;
    await tx`
      insert into runtime_partitions (partition)
      select generate_series(0, ${wanted - 1}) where not exists (select 1 from runtime_partitions)`;
    return await readPartitioning(tx);
  });
}

/** A count of 0 where no node has set the database up. */
export async function readPartitioning(sql: Pick<Sql, "unsafe">): Promise<Partitioning> {
  const [row] = await sql.unsafe<Partitioning[]>(
    "select count(*)::int as count, coalesce(max(generation), 0) as generation from runtime_partitions",
  );
  return row ?? { count: 0, generation: 0 };
}
