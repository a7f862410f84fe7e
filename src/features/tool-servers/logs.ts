/** What programs write to their standard error, readable from any node: the last lines of each server. */
import { storableText, utf8Tail } from "../../../actors/kernel/text.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres/pool.ts";

export interface LogLine {
  readonly at: Date;
  readonly node_id: string;
  readonly line: string;
}

/** Lines of a server that are kept. */
export const keptLines = 1_000;
const maxLineBytes = 8 * 1_024;
const writeEveryMs = 500;
/** Bytes of one server that wait to be written. */
const maxWaitingBytes = 1_024 * 1_024;

interface Waiting {
  lines: { readonly at: number; readonly line: string }[];
  bytes: number;
}

export interface LogsOptions {
  readonly sql: Sql;
  readonly nodeId: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly failed: (error: unknown) => void;
}

export type Logs = ReturnType<typeof createLogs>;

export function createLogs({ sql, nodeId, now, failed }: LogsOptions) {
  const waiting = new Map<string, Waiting>();

  async function write(): Promise<void> {
    for (const [id, { lines }] of [...waiting]) {
      waiting.delete(id);
      const rows = lines.map(({ at, line }) => ({ at: new Date(at).toISOString(), line }));
      await sql`
        insert into tool_server_logs (server_id, node_id, at, line)
        select s.id, ${nodeId}, r.at, r.line
        from tool_servers s, json_to_recordset(${JSON.stringify(rows)}::text::json) as r (at timestamptz, line text)
        where s.id = ${id}`;
      await sql`
        delete from tool_server_logs where server_id = ${id} and position <= (
          select position from tool_server_logs where server_id = ${id} order by position desc offset ${keptLines} limit 1)`;
    }
  }

  return {
    /** Never throws and never waits. What comes faster than it can be written makes room for what comes later. */
    add(serverId: string, line: string): void {
      const known = waiting.get(serverId) ?? { lines: [], bytes: 0 };
      waiting.set(serverId, known);
      const kept = storableText(utf8Tail(Buffer.from(line), maxLineBytes));
      known.lines.push({ at: now(), line: kept });
      known.bytes += kept.length + 64;
      while (known.lines.length > keptLines || known.bytes > maxWaitingBytes) {
        known.bytes -= (known.lines.shift()?.line.length ?? 0) + 64;
      }
    },

    waiting: (): number => [...waiting.values()].reduce((sum, { lines }) => sum + lines.length, 0),

    /** The last ones, oldest first. */
    async read(serverId: string, limit: number): Promise<LogLine[]> {
      const rows = await sql<LogLine[]>`
        select at, node_id, line from tool_server_logs where server_id = ${serverId}
        order by position desc limit ${limit}`;
      return rows.toReversed();
    },

    /** Begins to write. @returns a function that ends it, with everything written */
    start(): () => Promise<void> {
      const stop = repeatedly(writeEveryMs, write, failed);
      return async () => {
        await stop();
        await write().catch(failed);
      };
    },
  };
}
