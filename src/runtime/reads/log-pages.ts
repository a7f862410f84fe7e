/** Logs of actors as they are stored, in pages that are bounded in entries and in bytes. */
import type { Sql } from "../../store/postgres/pool.ts";
import type { Address, LogEntry } from "../port.ts";
import { turnFor } from "./large-texts.ts";

/** Bytes of the entries of a page, about; a larger entry is a page of its own. */
const pageBytes = 8 * 1024 * 1024;

export interface LogPage {
  readonly entries: readonly LogEntry[];
  /** Whether these were all that is stored. */
  readonly isLast: boolean;
}

export interface LogPageOptions {
  readonly after: number;
  /** Entries at most. */
  readonly rows: number;
  /** Whose turn it takes where entries are large. */
  readonly owner: string;
}

/** Stored entries of a log after `after`, oldest first: `rows` of them and `pageBytes` at most, but one at least. */
export async function readLogPage(
  sql: Sql,
  { kind, key }: Pick<Address, "kind" | "key">,
  log: string,
  { after, rows: most, owner }: LogPageOptions,
): Promise<LogPage> {
  // The length of a text that is stored aside is known without reading it.
  const rows = await sql<{ seq: string; at: string; entry: string; found: number }[]>`
    select seq, at, entry, found from (
      select first.*, count(*) over ()::int as found,
        sum(octet_length(entry)) over (order by seq) - octet_length(entry) as before
      from (
        select seq, at, entry from runtime_logs
        where kind = ${kind} and key = ${key} and log = ${log} and seq > ${after}
        order by seq limit ${most}) first
    ) page where before < ${pageBytes} order by seq`;
  await turnFor(
    owner,
    rows.map((row) => row.entry),
  );
  const entries = rows.map(({ seq, at, entry }) => ({
    seq: Number(seq),
    at: Number(at),
    entry: JSON.parse(entry) as LogEntry["entry"],
  }));
  return { entries, isLast: rows.length < most && rows.length === (rows[0]?.found ?? 0) };
}

/** All stored entries behind `after`, a page after the other; one at least, which may be empty. */
export async function* readLogPages(
  sql: Sql,
  at: Pick<Address, "kind" | "key">,
  log: string,
  { after, ...options }: LogPageOptions,
): AsyncGenerator<readonly LogEntry[]> {
  for (let last = after; ; ) {
    const { entries, isLast } = await readLogPage(sql, at, log, { ...options, after: last });
    yield entries;
    if (isLast) return;
    last = entries.at(-1)?.seq ?? last;
  }
}

/** The first stored entries behind `after`, `limit` at most, however large they are. */
export async function readLog(
  sql: Sql,
  at: Pick<Address, "kind" | "key">,
  log: string,
  { rows: limit, ...options }: LogPageOptions,
): Promise<readonly LogEntry[]> {
  const all: LogEntry[] = [];
  for (;;) {
    const after = all.at(-1)?.seq ?? options.after;
    const { entries, isLast } = await readLogPage(sql, at, log, { ...options, after, rows: limit - all.length });
    if (all.length === 0 && (isLast || entries.length === limit)) return entries;
    all.push(...entries);
    if (isLast || all.length >= limit) return all;
  }
}
