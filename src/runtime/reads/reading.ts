/** What is committed, read without the runtime's help: states and logs. */
import type { Json } from "../../../actors/kernel/json.ts";
import { numbers, texts } from "../../store/array-literal.ts";
import type { Sql } from "../../store/postgres.ts";
import type { LogEntry, LogPoint, Runtime, StoredActor } from "../port.ts";
import { firstMembers } from "./first-members.ts";
import { readLog } from "./tail.ts";

type Reading = Pick<Runtime, "read" | "readMany" | "readMembers" | "log" | "logPoints" | "logEntries">;

export function reading(sql: Sql): Reading {
  return {
    async read({ kind, key, tenant }) {
      const [row] = await sql<{ version: string; state: string }[]>`
        select version, state from runtime_actors where kind = ${kind} and key = ${key} and tenant = ${tenant}`;
      return row === undefined
        ? null
        : { key, tenant, version: Number(row.version), state: JSON.parse(row.state) as Json };
    },
    async readMany(kind, tenant, wanted) {
      const rows = await sql<{ key: string; version: string; state: string }[]>`
        select key, version, state from runtime_actors where kind = ${kind} and key = any(${[...wanted]}) and tenant = ${tenant}`;
      return rows.map(({ key, version, state }) => ({
        key,
        tenant,
        version: Number(version),
        state: JSON.parse(state) as Json,
      }));
    },
    readMembers: (kind, tenant, wanted, members) => readMembers(sql, kind, tenant, wanted, members),
    log: ({ kind, key }, log, after, limit) => readLog(sql, kind, key, log, after, limit),
    logPoints: (kind, log, behind, limit) => readLogPoints(sql, kind, log, behind, limit),
    logEntries: (kind, log, points) => readLogEntries(sql, kind, log, points),
  };
}

/** Of a state's text, looked at first: what lists show stands before what is bulky. */
const headCharacters = 32_768;
/** Of the states that are looked through together where that is not enough. */
const chunkBytes = 16 * 1_048_576;

async function readMembers(
  sql: Sql,
  kind: string,
  tenant: string,
  wanted: readonly string[],
  members: readonly string[],
): Promise<StoredActor[]> {
  const rows = await sql<{ key: string; version: string; bytes: number; head: string }[]>`
    select key, version, octet_length(state) as bytes, left(state, ${headCharacters}) as head
    from runtime_actors where kind = ${kind} and key = any(${[...wanted]}) and tenant = ${tenant}`;
  const found: StoredActor[] = [];
  const chunks: string[][] = [];
  let room = 0;
  for (const { key, version, bytes, head } of rows) {
    const state = firstMembers(head, members);
    if (state !== null) found.push({ key, tenant, version: Number(version), state });
    else if (bytes <= room) chunks.at(-1)?.push(key);
    else chunks.push([key]);
    if (state === null) room = (bytes <= room ? room : chunkBytes) - bytes;
  }
  for (const keys of chunks) found.push(...(await lookThrough(sql, kind, tenant, keys, members)));
  return found;
}

/**
 * PostgreSQL's functions on JSON decode every string they pass, and refuse a text that escapes what its own text
 * cannot hold: U+0000 and lone surrogates. A state with such an escape comes whole, and is taken apart here.
 */
async function lookThrough(
  sql: Sql,
  kind: string,
  tenant: string,
  wanted: readonly string[],
  members: readonly string[],
): Promise<StoredActor[]> {
  const rows = await sql<{ key: string; version: string; whole: boolean; state: string }[]>`
    select key, version, whole, case when whole then state else (
      select coalesce(json_object_agg(member.key, member.value), '{}')::text
      from json_each(state::json) member where member.key = any(${[...members]})) end as state
    from (
      select key, version, state, strpos(state, '\\u0000') > 0 or strpos(state, '\\ud') > 0 as whole
      from runtime_actors where kind = ${kind} and key = any(${[...wanted]}) and tenant = ${tenant}) a`;
  return rows.map(({ key, version, whole, state }) => {
    const found = JSON.parse(state) as { readonly [member: string]: Json };
    const picked = whole ? Object.fromEntries(Object.entries(found).filter(([name]) => members.includes(name))) : found;
    return { key, tenant, version: Number(version), state: picked };
  });
}

/** Of each actor at most `limit` entries behind its point, in order of `seq`. */
async function readLogPoints(
  sql: Sql,
  kind: string,
  log: string,
  behind: readonly LogPoint[],
  limit: number,
): Promise<(LogPoint & { readonly at: number })[]> {
  if (behind.length === 0) return [];
  const rows = await sql<{ key: string; seq: string; at: string }[]>`
    select u.key, l.seq, l.at
    from unnest(${texts(behind.map(({ key }) => key))}::text[], ${numbers(behind.map(({ seq }) => seq))}::bigint[]) as u (key, seq)
    cross join lateral (
      select seq, at from runtime_logs
      where kind = ${kind} and key = u.key and log = ${log} and seq > u.seq
      order by seq limit ${limit}) l
    order by u.key, l.seq`;
  return rows.map(({ key, seq, at }) => ({ key, seq: Number(seq), at: Number(at) }));
}

/** The entries at these places, in no order; those that are not there are left out. */
async function readLogEntries(
  sql: Sql,
  kind: string,
  log: string,
  points: readonly LogPoint[],
): Promise<(LogEntry & LogPoint)[]> {
  if (points.length === 0) return [];
  const rows = await sql<{ key: string; seq: string; at: string; entry: string }[]>`
    select l.key, l.seq, l.at, l.entry
    from unnest(${texts(points.map(({ key }) => key))}::text[], ${numbers(points.map(({ seq }) => seq))}::bigint[]) as u (key, seq)
    join runtime_logs l on l.kind = ${kind} and l.key = u.key and l.log = ${log} and l.seq = u.seq`;
  return rows.map(({ key, seq, at, entry }) => ({
    key,
    seq: Number(seq),
    at: Number(at),
    entry: JSON.parse(entry) as LogEntry["entry"],
  }));
}
