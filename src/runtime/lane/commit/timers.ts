/** Timers that turns set, and those that are over: fired or cancelled. */
import { jsonLines, numbers, texts } from "../../../store/postgres/array-literal.ts";
import type { TimerPlace, TimerRow } from "../../timers/timer.ts";
import { type Part, rowsPart } from "./part.ts";

const add = `insert into runtime_timers (partition, due, fence, kind, key, tenant, timer, type, body)
  select * from unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    string_to_array($9::text, E'\\n'))`;

export const timers = (rows: readonly TimerRow[]): Part | null =>
  rowsPart(add, rows, () => [
    numbers(rows.map((row) => row.partition)),
    numbers(rows.map((row) => row.due)),
    numbers(rows.map((row) => row.fence)),
    texts(rows.map((row) => row.kind)),
    texts(rows.map((row) => row.key)),
    texts(rows.map((row) => row.tenant)),
    texts(rows.map((row) => row.timer)),
    texts(rows.map((row) => row.type)),
    jsonLines(rows.map((row) => row.body)),
  ]);

// Found by the index; the key is named besides, so that nothing but the actor's own timer goes.
const remove = `delete from runtime_timers t
  using (select * from unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[]) as u (partition, due, fence, key)
    limit cardinality($1::int[])) u
  where t.partition = u.partition and t.due = u.due and t.fence = u.fence and t.key = u.key`;

export const endedTimers = (places: readonly TimerPlace[]): Part | null =>
  rowsPart(remove, places, () => [
    numbers(places.map((place) => place.partition)),
    numbers(places.map((place) => place.due)),
    numbers(places.map((place) => place.fence)),
    texts(places.map((place) => place.key)),
  ]);
