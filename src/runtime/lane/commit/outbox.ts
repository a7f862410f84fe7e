/** Effects to be carried out after the commit, and those that are carried out and go. */
import { jsonLines, numbers } from "../../../store/postgres/array-literal.ts";
import type { OutboxRow } from "../../effects/outbox.ts";
import { type Part, rowsPart } from "./part.ts";
import type { PartitionProgress } from "./progress.ts";

const add = `insert into runtime_outbox (partition, seq, effect, target)
  select * from unnest($1::int[], $2::bigint[], string_to_array($3::text, E'\\n'), $4::int[])`;

export const effects = (rows: readonly OutboxRow[]): Part | null =>
  rowsPart(add, rows, () => [
    numbers(rows.map((row) => row.partition)),
    numbers(rows.map((row) => row.seq)),
    jsonLines(rows.map((row) => row.effect)),
    `{${rows.map((row) => row.target ?? "null").join(",")}}`,
  ]);

const remove = `delete from runtime_outbox o using (
    select * from unnest($1::int[], $2::bigint[]) as u (partition, seq) limit cardinality($1::int[])) u
  where o.partition = u.partition and o.seq <= u.seq and o.target is null`;

/** Only what this node carries out itself: what another partition receives goes with that one's commit. */
export function carriedOut(partitions: readonly PartitionProgress[]): Part | null {
  const spent = partitions.filter((row) => row.published > 0);
  return rowsPart(remove, spent, () => [
    numbers(spent.map((row) => row.partition)),
    numbers(spent.map((row) => row.published)),
  ]);
}
