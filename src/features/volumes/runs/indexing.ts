/** What executions wrote, put into the index of the volumes once nothing works with them any more. */
import type { Sql } from "../../../store/postgres/pool.ts";
import { changeMarks } from "../places/index/changes.ts";
import type { Places } from "../places/port.ts";
import type { VolumesInUse } from "./in-use.ts";

/** Volumes of one round. */
const ofRound = 50;
/** A node that takes a volume up has it for so long; others leave it alone. */
const claimed = "15 minutes";
/** One that is in use, or changed meanwhile, is looked at again after so long. */
const again = "15 seconds";

export function indexing(sql: Sql, places: Pick<Places, "writeBack" | "held">, isQuiet: VolumesInUse["isQuiet"]) {
  const marks = changeMarks(sql);

  /** Claimed for this node, those that wait longest first. */
  async function claim(among: readonly string[]): Promise<string[]> {
    const rows = await sql<{ volume_id: string }[]>`
      with due as (
        select volume_id from volumes
        where not indexed and deleted_at is null and kind <> 'run' and index_due_at <= now()
          and volume_id = any(${[...among]}::uuid[])
        order by index_due_at limit ${ofRound} for update skip locked
      )
      update volumes set index_due_at = now() + ${claimed}::interval
      where volume_id in (select volume_id from due) returning volume_id`;
    return rows.map(({ volume_id }) => volume_id);
  }

  return {
    /** One round: of the volumes on this host, those that are not indexed and not in use. */
    async settleIndexes(): Promise<void> {
      await marks.mend();
      const [due] = await sql`
        select from volumes where not indexed and deleted_at is null and kind <> 'run' and index_due_at <= now() limit 1`;
      if (due === undefined) return;
      for (const id of await claim(await places.held())) {
        const settled = await places.writeBack(id, () => isQuiet(id)).catch(() => false);
        if (!settled) await sql`update volumes set index_due_at = now() + ${again}::interval where volume_id = ${id}`;
      }
    },
  };
}
