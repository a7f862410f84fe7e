/** Work that turns asked for, gave up, or took the outcome of. */
import { booleans, jsonLines, numbers, texts } from "../../../store/postgres/array-literal.ts";
import { firstVersion } from "../../versions/knowledge.ts";
import { type Part, rowsPart } from "./part.ts";

export interface ActivityRow {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly name: string;
  /** JSON. */
  readonly input: string;
  /** The version of the activity's definition that it was written by; undefined: the first. */
  readonly format: number | undefined;
  readonly replyType: string;
  readonly hostBound: boolean;
  /** Whether this node can do it; otherwise one that can takes it. */
  readonly isKnown: boolean;
}

const add = `insert into runtime_activities (id, kind, key, tenant, name, input, reply_type, host_bound, node, host, format)
  select id, kind, key, tenant, name, input, reply_type, host_bound, case when is_known then $9 end, $10, format
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], string_to_array($6::text, E'\\n'),
    $7::text[], $8::bool[], $11::bool[], $12::int[])
    as u (id, kind, key, tenant, name, input, reply_type, host_bound, is_known, format)
  on conflict (id) do nothing`;

export const activities = (rows: readonly ActivityRow[], node: string, host: string): Part | null =>
  rowsPart(add, rows, () => [
    texts(rows.map((row) => row.id)),
    texts(rows.map((row) => row.kind)),
    texts(rows.map((row) => row.key)),
    texts(rows.map((row) => row.tenant)),
    texts(rows.map((row) => row.name)),
    jsonLines(rows.map((row) => row.input)),
    texts(rows.map((row) => row.replyType)),
    booleans(rows.map((row) => row.hostBound)),
    node,
    host,
    booleans(rows.map((row) => row.isKnown)),
    numbers(rows.map((row) => row.format ?? firstVersion)),
  ]);

const settle = `delete from runtime_activities a using (
    select * from unnest($1::text[]) as u (id) limit cardinality($1::text[])) u where a.id = u.id`;

/** @param ids of activities whose outcome these turns took in */
export const settledActivities = (ids: readonly string[]): Part | null => rowsPart(settle, ids, () => [texts(ids)]);

const giveUp = `update runtime_activities a set abandoned = true from (
    select * from unnest($1::text[]) as u (id) limit cardinality($1::text[])) u where a.id = u.id`;

export const abandonedActivities = (ids: readonly string[]): Part | null => rowsPart(giveUp, ids, () => [texts(ids)]);
