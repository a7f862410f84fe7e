/**
 * Changes of volumes that are bytes in one place and rows in another. A mark is stored before the first of them and goes
 * with the transaction that stores the last; a mark that stays says that they may not agree, and the index is made anew.
 */
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { Sql, Transaction } from "../../../../store/postgres/pool.ts";
import type { VolumeAt } from "../port.ts";

/** A mark that is older and that no transaction holds belongs to a change that was cut off. */
const abandonedAfter = "10 seconds";
/** A change whose mark was taken for abandoned before its transaction began is begun so often. */
const maxRounds = 3;

class MarkLost extends Problem {
  constructor() {
    super("service_unavailable", "The volume is changed too much", {}, { "Retry-After": "5" });
  }
}

export function changeMarks(sql: Sql) {
  /** Neither its index nor its figures can be relied on. */
  async function doubt(volumeId: string): Promise<void> {
    await sql`update volumes set measured = false where volume_id = ${volumeId}`;
  }

  return {
    doubt,

    /**
     * Runs a change in a transaction; changes of one tenant take turns.
     * @param isTouched asked where it failed: whether bytes were changed already
     * @throws Problem 404 `volume_not_found` where the volume was deleted meanwhile
     */
    async marked<T>(
      { tenant, volume_id }: VolumeAt,
      work: (transaction: Transaction) => Promise<T>,
      isTouched: () => boolean,
    ): Promise<T> {
      for (let round = 1; ; round++) {
        const id = crypto.randomUUID();
        const begun = await sql`
          with bumped as (
            update volumes set file_changes = file_changes + 1
            where tenant = ${tenant} and volume_id = ${volume_id} and deleted_at is null returning volume_id
          )
          insert into volume_changes (change_id, volume_id) select ${id}, volume_id from bumped`;
        if (begun.count === 0) throw new Problem("volume_not_found", "Volume not found");
        try {
          // The driver's own promise type is narrower than what it resolves to.
          return (await sql.begin(async (transaction) => {
            // Held to the end, however long others have their turns before: only a crash lets go of it.
            const mark = await transaction`select from volume_changes where change_id = ${id} for update`;
            if (mark.count === 0) throw new MarkLost();
            await transaction`select pg_advisory_xact_lock(hashtextextended(${`volumes ${tenant}`}, 0))`;
            await transaction`select from volumes where tenant = ${tenant} and volume_id = ${volume_id} for update`;
            const result = await work(transaction);
            await transaction`delete from volume_changes where change_id = ${id}`;
            return result;
          })) as T;
        } catch (error) {
          if (error instanceof MarkLost && round < maxRounds) continue;
          if (isTouched()) await doubt(volume_id);
          await sql`delete from volume_changes where change_id = ${id}`;
          throw error;
        }
      }
    },

    /** What crashes cut off: those volumes are in doubt. */
    async mend(): Promise<void> {
      await sql`
        with cut as (
          delete from volume_changes where change_id in (
            select change_id from volume_changes where created_at < now() - ${abandonedAfter}::interval
            for update skip locked
          ) returning volume_id
        )
        update volumes set measured = false where volume_id in (select volume_id from cut)`;
    },
  };
}
