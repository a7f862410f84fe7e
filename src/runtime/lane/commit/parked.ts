/** Messages that wait for a node that knows them (../../versions/parked.ts). */
import { jsonTexts, numbers, texts } from "../../../store/postgres/array-literal.ts";
import { type Part, rowsPart } from "./part.ts";

export interface ParkedRow {
  readonly partition: number;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  /** JSON; null for one that only waits behind another one. */
  readonly need: string | null;
  /** The mailbox entry. */
  readonly content: string;
  readonly activity: string | null;
}

const add = `insert into runtime_parked (partition, kind, key, tenant, need, content, activity)
  select partition, kind, key, tenant, nullif(need, ''), content, nullif(activity, '')
  from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) with ordinality
    as u (partition, kind, key, tenant, need, content, activity, place)
  order by place`;

export const parked = (rows: readonly ParkedRow[]): Part | null =>
  rowsPart(add, rows, () => [
    numbers(rows.map((row) => row.partition)),
    texts(rows.map((row) => row.kind)),
    texts(rows.map((row) => row.key)),
    texts(rows.map((row) => row.tenant)),
    texts(rows.map((row) => row.need ?? "")),
    jsonTexts(rows.map((row) => row.content)),
    texts(rows.map((row) => row.activity ?? "")),
  ]);

const want = `insert into runtime_needs (partition, need)
  select distinct * from unnest($1::int[], $2::text[]) on conflict do nothing`;

/** What the owners of these messages' partitions must know. */
export function needs(rows: readonly ParkedRow[]): Part | null {
  const wanted = rows.filter(({ need }) => need !== null);
  return rowsPart(want, wanted, () => [
    numbers(wanted.map((row) => row.partition)),
    texts(wanted.map((row) => row.need ?? "")),
  ]);
}

const take = "delete from runtime_parked where seq = any($1::bigint[]) or activity = any($2::text[])";

/**
 * @param places of messages that wait no longer
 * @param abandoned activities whose outcomes wait and are not wanted any more
 */
export const unparked = (places: readonly string[], abandoned: readonly string[]): Part | null =>
  rowsPart(take, [...places, ...abandoned], () => [`{${places.join(",")}}`, texts(abandoned)]);
