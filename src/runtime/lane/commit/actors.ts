/** The states of actors, and the end of actors with everything they wrote. */
import { jsonLines, jsonTexts, numbers, texts } from "../../../store/postgres/array-literal.ts";
import { filledIn } from "./large-texts.ts";
import { type Part, rowsPart } from "./part.ts";

export interface ActorRow {
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly partition: number;
  /** Whether there is no row of it: this commit makes it. */
  readonly isNew: boolean;
  readonly version: number;
  /** JSON. */
  readonly logs: string;
  /** JSON; null for none. */
  readonly timers: string | null;
  /** The version of the definition that wrote the state. */
  readonly format: number;
  /** JSON; null for a kind without listed members. */
  readonly listed: string | null;
  /** JSON, with the numbers of large texts in their places. */
  readonly state: string;
}

export interface EndedActor {
  readonly kind: string;
  readonly key: string;
}

/**
 * A row that is in the way of a new actor is another attempt's and is not written over: the commit is refused with 23505.
 * What is offered for a row says whether one is expected, by a time that no row has.
 */
const storeOf = (
  state: string,
): string => `insert into runtime_actors (kind, key, tenant, partition, version, logs, state, listed, timers, format, updated_at)
  select kind, key, tenant, partition, version, logs, ${state}, listed, timers, format,
    case when made = 1 then now() else '-infinity' end
  from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::text[],
    string_to_array($7::text, E'\\n'), string_to_array($8::text, E'\\n', ''), string_to_array($9::text, E'\\n', ''),
    $10::int[], $11::int[]) as a (kind, key, tenant, partition, version, logs, state, listed, timers, format, made)
  on conflict (kind, key) do update
    set tenant = case when excluded.updated_at = '-infinity' then excluded.tenant
        else runtime_refuse_stored(excluded.kind, excluded.key) end, version = excluded.version, logs = excluded.logs, state = excluded.state,
      listed = excluded.listed, timers = excluded.timers, format = excluded.format, updated_at = now()`;

const [store, storeLarge] = [storeOf("state"), storeOf(filledIn("a.state"))];

/** @param hasLarge whether states have numbers in place of large texts */
export const actors = (rows: readonly ActorRow[], hasLarge: boolean): Part | null =>
  rowsPart(hasLarge ? storeLarge : store, rows, () => [
    texts(rows.map((row) => row.kind)),
    texts(rows.map((row) => row.key)),
    texts(rows.map((row) => row.tenant)),
    numbers(rows.map((row) => row.partition)),
    numbers(rows.map((row) => row.version)),
    jsonTexts(rows.map((row) => row.logs)),
    jsonLines(rows.map((row) => row.state)),
    rows.map((row) => row.listed ?? "").join("\n"),
    rows.map((row) => row.timers ?? "").join("\n"),
    numbers(rows.map((row) => row.format)),
    numbers(rows.map((row) => (row.isNew ? 1 : 0))),
  ]);

const endActors = `delete from runtime_actors a using (
    select * from unnest($1::text[], $2::text[]) as u (kind, key) limit cardinality($1::text[])) u
  where a.kind = u.kind and a.key = u.key`;
const endLogs = `delete from runtime_logs a using (
    select * from unnest($1::text[], $2::text[]) as u (kind, key) limit cardinality($1::text[])) u
  where a.kind = u.kind and a.key = u.key`;

/** To be run ahead of all other parts where an actor that ended begins again in the same commit. */
export function endedActors(ended: readonly EndedActor[]): readonly Part[] {
  if (ended.length === 0) return [];
  const parameters = [texts(ended.map((row) => row.kind)), texts(ended.map((row) => row.key))];
  return [endActors, endLogs].map((text) => ({ text, parameters }));
}
