/**
 * Watches a pool of PostgreSQL connections. The driver waits for an answer as long as it takes, so what hangs is found
 * here: a database that answers nothing or only reads, a connection that is half open, a statement over its bound.
 *
 * Time is counted in ticks of this process rather than by the clock: a node that was frozen does not take its own pause
 * for the silence of the database.
 */

import { StoreAway } from "../away.ts";
import { reasonOf } from "../reason.ts";
import { numbers } from "./array-literal.ts";
import type { PoolConnection } from "./driver.ts";
import { connectTo, controlOf, isDatabaseUnavailable, type Sql } from "./pool.ts";
import { type DatabaseHost, parseDatabaseUrl } from "./url.ts";

const tickMs = 250;
/** Between an answer and the next question, in ticks: a node's heartbeats, one a second, leave nothing to ask. */
const pauseTicks = 5;
/** A question that waits this long says that the database is away: requests must end within 6 s. */
const answerTicks = 15;
/** A connection silent for this long over its work is asked after, ms. */
const suspectMs = 3_500;
/** What the server needs beyond a statement's bound to say so, ms. */
const graceMs = 1_000;
/** Between a cancel and giving the connection up, in ticks. */
const cancelTicks = 4;
/** A statement that found the disk full says so for this long, ms: what is refused is tried again more often. */
const fullMs = 10_000;

export interface WatchOptions {
  /** Watched; its `options.control` is taken. */
  readonly pool: Sql;
  /** Connections of the watch's own, at least two: questions never wait for work. */
  readonly probe: Sql;
  readonly url: string;
  /** Which of the URL's hosts both are connected to. */
  readonly host?: number;
  /** Bound of a statement, ms. */
  readonly statementMs: number;
  /** Whether a pooler stands between: then the server's process of a connection is not known. */
  readonly pooled: boolean;
  readonly report: (event: "database_away" | "database_back" | "connection_replaced", facts: Facts) => void;
}

type Facts = Record<string, string | number>;

export interface DatabaseWatch {
  /** Why the database is away; null while it answers and accepts writes. */
  readonly reason: string | null;
  /** Why it refuses writes although it answers, as far as the pool's statements have met that; else null. */
  readonly full: string | null;
  /** For how long it has answered and taken writes, ms. */
  readonly upMs: number;
  /** A write went well over the connections of the watch: that is an answer, and the next question can wait. */
  wrote(): void;
  stop(): void;
}

interface Suspect {
  /** Ticks over the statement's bound. */
  over: number;
  /** Times in a row that the server did not work on what the connection waits for. */
  idle: number;
}

export function watchDatabase(options: WatchOptions): DatabaseWatch {
  const { pool, probe, url, statementMs, pooled, report } = options;
  const { hosts } = parseDatabaseUrl(url);
  const watched = controlOf(pool);
  const suspects = new Map<PoolConnection, Suspect>();
  let host = options.host ?? 0;
  let used = host;
  let failures = 0;
  let reason: string | null = null;
  let upSince = performance.now();
  let refusal: StoreAway | null = null;
  let full: { readonly reason: string; readonly at: number } | null = null;
  /** Ticks since the question under way was asked, or since the last one ended. */
  let ticks = pauseTicks;
  let asking = false;
  let checking = false;
  let question = 0;

  watched.options.control = {
    away: () => refusal,
    failed: (error) => {
      if (!isDatabaseUnavailable(error)) return;
      if (error instanceof Error && "code" in error && error.code === "53100") {
        full = { reason: reasonOf(error), at: performance.now() };
      }
      // Whether it is the database or one connection, the next question tells; it is asked at the next tick.
      if (!asking) ticks = pauseTicks;
      // The server became a standby: what else is open leads there, too.
      if (error instanceof Error && "code" in error && error.code === "25006") {
        queueMicrotask(() => watched.interrupt(new StoreAway("PostgreSQL", "it is read-only (25006)")));
      }
    },
  };

  const timer = setInterval(tick, tickMs);

  function tick(): void {
    ticks += 1;
    if (asking && ticks > answerTicks) fail(new StoreAway("PostgreSQL", "it does not answer"), true);
    else if (!asking && (ticks >= pauseTicks || reason !== null)) void ask();
    for (const connection of watched.connections) inspect(connection);
  }

  async function ask(): Promise<void> {
    const mine = ++question;
    asking = true;
    ticks = 0;
    try {
      const [answer] = await probe<{ reads: boolean }[]>`
        select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as reads`;
      if (mine !== question) return;
      if (answer?.reads !== false) fail(new StoreAway("PostgreSQL", "it is read-only"), true);
      else succeed();
    } catch (error) {
      if (mine === question) fail(error, /TIMEOUT|TIMEDOUT/.test(String((error as { code?: unknown }).code)));
    }
  }

  function succeed(): void {
    asking = false;
    ticks = 0;
    failures = 0;
    refusal = null;
    if (used !== host) {
      used = host;
      connectTo(pool, hosts[host] as DatabaseHost);
      watched.interrupt(new StoreAway("PostgreSQL", "another host took over"));
    }
    if (reason === null) return;
    reason = null;
    upSince = performance.now();
    report("database_back", {});
  }

  /** @param refuses whether queries are refused from now on: otherwise they fail as fast by themselves */
  function fail(error: unknown, refuses: boolean): void {
    asking = false;
    question += 1;
    ticks = 0;
    failures += 1;
    const told = reasonOf(error);
    const away = new StoreAway("PostgreSQL", told);
    controlOf(probe).interrupt(away);
    if (hosts.length > 1) {
      host = (host + 1) % hosts.length;
      connectTo(probe, hosts[host] as DatabaseHost);
    }
    // The first failure may be that of the one connection: it is asked once more over a new one.
    if (failures === 1 && !refuses) {
      ticks = pauseTicks;
      return;
    }
    if (refuses && refusal === null) {
      refusal = away;
      watched.interrupt(away);
    }
    if (reason === told) return;
    reason = told;
    report("database_away", { reason: told });
  }

  function inspect(connection: PoolConnection): void {
    const silentMs = connection.silentMs();
    if (silentMs < suspectMs) {
      suspects.delete(connection);
      return;
    }
    const suspect = suspects.get(connection) ?? { over: 0, idle: 0 };
    suspects.set(connection, suspect);
    if (silentMs > statementMs + graceMs) {
      suspect.over += 1;
      // The first tick after a pause of this process says nothing yet: the answer may be waiting to be read.
      if (suspect.over === 2) void cancel(connection);
      if (suspect.over === 2 + cancelTicks) replace(connection, "a statement over its bound");
    } else if (!pooled && !checking && reason === null) void check();
  }

  /** Whether the server works on what silent connections wait for. */
  async function check(): Promise<void> {
    checking = true;
    try {
      const pids = [...suspects.keys()].flatMap(({ backend }) => backend.pid ?? []);
      const rows = await probe<{ pid: number }[]>`
        select pid from pg_stat_activity where pid = any(${numbers(pids)}::int[]) and state = 'active'`;
      const active = new Set(rows.map(({ pid }) => pid));
      for (const [connection, suspect] of suspects) {
        const { pid } = connection.backend;
        if (pid === null || !pids.includes(pid)) continue;
        suspect.idle = active.has(pid) ? 0 : suspect.idle + 1;
        if (suspect.idle === 2) replace(connection, "half open");
      }
    } catch {
      // The next question tells that the database is away.
    } finally {
      setTimeout(() => {
        checking = false;
      }, tickMs * 2);
    }
  }

  /**
   * Ends the statement at the server. Not while commits wait for a synchronous standby: a cancelled wait leaves a commit
   * that the standby does not have, and that others see.
   */
  async function cancel(connection: PoolConnection): Promise<void> {
    try {
      const waiting = await probe`
        select 1 from pg_stat_activity where wait_event = 'SyncRep' and usename = current_user limit 1`;
      if (waiting.length === 0 && suspects.has(connection)) await connection.cancelStatement();
    } catch {
      // The connection is given up all the same.
    }
  }

  function replace(connection: PoolConnection, why: string): void {
    suspects.delete(connection);
    connection.interrupt(new StoreAway("PostgreSQL", `a connection did not answer (${why})`));
    report("connection_replaced", { reason: why });
  }

  return {
    get reason() {
      return reason;
    },
    get full() {
      return full !== null && performance.now() - full.at < fullMs ? full.reason : null;
    },
    get upMs() {
      return reason === null ? performance.now() - Math.max(upSince, full?.at ?? 0) : 0;
    },
    wrote() {
      if (!asking && failures === 0) ticks = 0;
    },
    stop() {
      clearInterval(timer);
      question += 1;
      delete watched.options.control;
    },
  };
}
