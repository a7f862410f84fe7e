/** What is committed, read without the runtime's help: states and logs. */
import type { AnyActorDefinition } from "../../../actors/kernel/actor.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { numbers, texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Address, LogEntry, LogPoint, StoredActor } from "../port.ts";
import { turnFor } from "./large-texts.ts";
import { joinState } from "./listed.ts";
import { readLog, readLogPages } from "./log-pages.ts";

/** What is committed, by kind and key. The tenant must match: foreign is unknown. */
export interface Reading {
  read(at: Address): Promise<StoredActor | null>;
  /** In no order; unknown and foreign keys are left out. */
  readMany(kind: string, tenant: string, keys: readonly string[]): Promise<readonly StoredActor[]>;
  /** The listed members of several states in today's shape, likewise. */
  readListed(
    actor: Pick<AnyActorDefinition, "kind" | "upgrade">,
    tenant: string,
    keys: readonly string[],
  ): Promise<readonly StoredActor[]>;
  logLength(at: Address, log: string): Promise<number>;
  log(at: Address, log: string, after: number, limit: number): Promise<readonly LogEntry[]>;
  logPages(at: Address, log: string, after: number, rows: number): AsyncGenerator<readonly LogEntry[]>;
  logPoints(
    kind: string,
    log: string,
    behind: readonly LogPoint[],
    limit: number,
  ): Promise<readonly (LogPoint & { readonly at: number })[]>;
  logEntries(kind: string, log: string, points: readonly LogPoint[]): Promise<readonly (LogEntry & LogPoint)[]>;
  /** All logs of these actors but those of these names. */
  eraseLogs(kind: string, keys: readonly string[], except: readonly string[]): Promise<void>;
}

export function reading(sql: Sql): Reading {
  return {
    async read({ kind, key, tenant }) {
      const [row] = await sql<{ version: string; format: number; listed: string | null; state: string }[]>`
        select version, format, listed, state from runtime_actors where kind = ${kind} and key = ${key} and tenant = ${tenant}`;
      if (row === undefined) return null;
      await turnFor(tenant, [row.listed, row.state]);
      return { key, tenant, version: Number(row.version), format: row.format, state: joinState(row) };
    },
    async readMany(kind, tenant, wanted) {
      const rows = await sql<{ key: string; version: string; format: number; listed: string | null; state: string }[]>`
        select key, version, format, listed, state from runtime_actors where kind = ${kind} and key = any(${[...wanted]}) and tenant = ${tenant}`;
      await turnFor(
        tenant,
        rows.flatMap((row) => [row.listed, row.state]),
      );
      return rows.map((row) => ({
        key: row.key,
        tenant,
        version: Number(row.version),
        format: row.format,
        state: joinState(row),
      }));
    },
    async readListed({ kind, upgrade = (stored: Json) => stored }, tenant, wanted) {
      if (wanted.length === 0) return [];
      const keys = texts([...new Set(wanted)]);
      const rows = await sql<{ key: string; version: string; format: number; listed: string }[]>`
        select a.key, a.version, a.format, coalesce(a.listed, a.state) as listed
        from (select * from unnest(${keys}::text[]) as u (key) limit cardinality(${keys}::text[])) u
        join runtime_actors a on a.kind = ${kind} and a.key = u.key and a.tenant = ${tenant}`;
      await turnFor(
        tenant,
        rows.map((row) => row.listed),
      );
      return rows.map(({ key, version, format, listed }) => ({
        key,
        tenant,
        version: Number(version),
        format,
        state: upgrade(JSON.parse(listed) as Json),
      }));
    },
    logLength: (at, log) => readLogLength(sql, at, log),
    log: ({ tenant, ...at }, log, after, limit) => readLog(sql, at, log, { after, rows: limit, owner: tenant }),
    logPages: ({ tenant, ...at }, log, after, rows) => readLogPages(sql, at, log, { after, rows, owner: tenant }),
    logPoints: (kind, log, behind, limit) => readLogPoints(sql, kind, log, behind, limit),
    async eraseLogs(kind, keys, except) {
      await sql`
        delete from runtime_logs where kind = ${kind} and key = any(${texts(keys)}::text[])
          and log <> all(${texts(except)}::text[])`;
    },
    logEntries: (kind, log, points) => readLogEntries(sql, kind, log, points),
  };
}

/** The last sequence number of one of an actor's logs, as its row counts it. */
async function readLogLength(sql: Sql, { kind, key, tenant }: Address, log: string): Promise<number> {
  const [row] = await sql<{ logs: string }[]>`
    select logs from runtime_actors where kind = ${kind} and key = ${key} and tenant = ${tenant}`;
  return row === undefined ? 0 : ((JSON.parse(row.logs) as Record<string, number>)[log] ?? 0);
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
