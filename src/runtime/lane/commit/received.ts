/** What the partitions of a commit took: the last number of each source, and the messages that are done with. */
import { numbers, texts } from "../../../store/postgres/array-literal.ts";
import { type Part, rowsPart } from "./part.ts";

export interface ReceivedRow {
  readonly partition: number;
  readonly source: string;
  readonly seq: number;
}

/** An effect that its receiver takes with this commit: its row in the sender's outbox goes. */
export interface TakenEffect {
  readonly partition: number;
  readonly seq: number;
}

/** A message taken before an earlier one of its source. */
export interface AheadRow {
  readonly partition: number;
  readonly source: string;
  readonly seq: number;
  /** The number that it follows. */
  readonly after: number;
}

const note = `insert into runtime_received (partition, source, seq)
  select * from unnest($1::int[], $2::text[], $3::bigint[])
  on conflict (partition, source) do update set seq = excluded.seq, at = now()`;

export const received = (rows: readonly ReceivedRow[]): Part | null =>
  rowsPart(note, rows, () => [
    numbers(rows.map((row) => row.partition)),
    texts(rows.map((row) => row.source)),
    numbers(rows.map((row) => row.seq)),
  ]);

const noteAhead = `insert into runtime_received_ahead (partition, source, seq, after)
  select * from unnest($1::int[], $2::text[], $3::bigint[], $4::bigint[])
  on conflict (partition, source, seq) do nothing`;

export const takenAhead = (rows: readonly AheadRow[]): Part | null =>
  rowsPart(noteAhead, rows, () => [
    numbers(rows.map((row) => row.partition)),
    texts(rows.map((row) => row.source)),
    numbers(rows.map((row) => row.seq)),
    numbers(rows.map((row) => row.after)),
  ]);

const joinAhead = `delete from runtime_received_ahead a using (
    select * from unnest($1::int[], $2::text[], $3::bigint[]) as u (partition, source, seq) limit cardinality($1::int[])) u
  where a.partition = u.partition and a.source = u.source and a.seq = u.seq`;

/** Notes that the last number of their source says as well by now. */
export const joined = (rows: readonly AheadRow[]): Part | null =>
  rowsPart(joinAhead, rows, () => [
    numbers(rows.map((row) => row.partition)),
    texts(rows.map((row) => row.source)),
    numbers(rows.map((row) => row.seq)),
  ]);

const remove = `delete from runtime_outbox o using (
    select * from unnest($1::int[], $2::bigint[]) as u (partition, seq) limit cardinality($1::int[])) u
  where o.partition = u.partition and o.seq = u.seq and o.target is not null`;

export const takenEffects = (rows: readonly TakenEffect[]): Part | null =>
  rowsPart(remove, rows, () => [numbers(rows.map((row) => row.partition)), numbers(rows.map((row) => row.seq))]);

const removeInbox = `delete from runtime_inbox i using (
    select * from unnest($1::bigint[]) as u (id) limit cardinality($1::bigint[])) u
  where i.id = u.id`;

/** Messages of the inbox, by id. */
export const takenInbox = (ids: readonly string[]): Part | null => rowsPart(removeInbox, ids, () => [texts(ids)]);
