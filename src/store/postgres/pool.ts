/** The PostgreSQL connection pool. Every table lives in the schema named here; SQL never names one itself. */
import type postgresTypes from "postgres";
import { StoreAway } from "../away.ts";
import { type ControlledPool, connectionFailure, postgres } from "./driver.ts";
import { type DatabaseHost, databaseTls, parseDatabaseUrl } from "./url.ts";

export type Sql = postgresTypes.Sql<Record<string, never>>;
/** The connection of an open transaction. */
export type Transaction = postgresTypes.TransactionSql<Record<string, never>>;

export interface PostgresOptions {
  /** As `parseDatabaseUrl` reads it. */
  readonly url: string;
  /** Schema that holds every table; made by `migrate` when absent. */
  readonly schema: string;
  /** Connections in the pool. */
  readonly poolSize: number;
  /** How long a connection may take to be opened, ms. */
  readonly connectMs?: number;
  /** How long the server works on one statement, ms; 0 leaves it to the role. */
  readonly statementMs?: number;
  /**
   * Connections pass through a pooler that hands each transaction another server connection (PgBouncer): nothing is
   * asked for when a connection opens. Schema and time limit are then those of the role.
   */
  readonly pooled?: boolean;
  /** Which of the URL's hosts is connected to, until `connectTo` says otherwise; the first when absent. */
  readonly host?: number;
  /** Whether statements are prepared once for a connection; a pooler may not know them on the next one. */
  readonly prepared?: boolean;
}

export const usualConnectMs = 5_000;
export const usualStatementMs = 15_000;

/** Opens the pool lazily: the first query connects. Reconnects by itself after the server was away. */
export function openPostgres(options: PostgresOptions): Sql {
  const { url, schema, poolSize, connectMs = usualConnectMs, statementMs = usualStatementMs, pooled = false } = options;
  const address = parseDatabaseUrl(url);
  const first = address.hosts[options.host ?? 0];
  if (first === undefined) throw new Error("unreachable: a database URL has this host");
  const isSocket = first.host.startsWith("/");
  const sql: Sql = postgres({
    host: "localhost",
    ...(isSocket ? { path: `${first.host}/.s.PGSQL.${first.port}` } : {}),
    user: address.user,
    password: address.password,
    database: address.database,
    ssl: databaseTls(address),
    max: poolSize,
    prepare: options.prepared ?? !pooled,
    idle_timeout: 60,
    connect_timeout: connectMs / 1000,
    max_lifetime: 60 * 30,
    keep_alive: 10,
    // PgBouncer 1.18 hands the connection to another client after the first answer of several queries sent ahead: the
    // rest is lost, and a query waits for ever.
    ...(pooled ? { max_pipeline: 0 } : {}),
    // A short pause: a restarted server should be noticed within a second, and attempts cost little.
    backoff: (attempt: number) => Math.min(1, 0.05 * 2 ** attempt),
    connection: {
      application_name: address.applicationName,
      ...(pooled ? {} : { search_path: schema, ...(statementMs === 0 ? {} : { statement_timeout: statementMs }) }),
    },
    onnotice: () => {},
  });
  connectTo(sql, first);
  return sql;
}

/** Has connections that are opened from now on go to this host. */
export function connectTo(sql: Sql, { host, port }: DatabaseHost): void {
  const { options } = controlOf(sql);
  options.host[0] = host;
  options.port[0] = port;
}

/** The pool as the mended driver shows it to its watch. */
export function controlOf(sql: Sql): ControlledPool {
  // The driver's types do not know of the mends; driver.ts fails when they do not fit.
  return sql as unknown as ControlledPool;
}

/** Codes that only the driver gives. */
const driverFailures = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "CONNECTION_CONNECT_TIMEOUT",
  "SASL_SIGNATURE_MISMATCH",
]);
const connectionFailures = new Set([...driverFailures, "ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOENT", "ETIMEDOUT"]);

const unavailable = /^(08|25|26|28|3D|3F|40|42P01|42P05|42501|53|55|57|58|XX)/;
/** Of those, what passes by itself: not what is missing or not allowed. */
const passing = /^(08|25|26|40|42P05|53|55|57|58)/;

/**
 * Whether an error is certainly of this service's database, and says that it is away or cannot do this now. Errors of
 * sockets and names count only where the driver marked them as those of its connections.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof StoreAway || connectionFailure in error) return true;
  const code = (error as Error & { code?: unknown }).code;
  if (typeof code !== "string") return false;
  return driverFailures.has(code) || (error.name === "PostgresError" && passing.test(code));
}

/**
 * Whether an error says "the database cannot do this now" and nothing about the statement: an error of the connection
 * (names, sockets, TLS included), or SQLSTATE class 08 (connection), 25 (idle too long, read-only), 26 (a prepared
 * statement that this connection does not know), 28 and 3D (no access), 3F and 42P01 (not set up yet), 42501 (no
 * rights), 40 (rolled back by the server), 53 (resources), 55 (in use), 57 (shutdown, crash, starting up, cancelled),
 * 58 (system) and XX (internal).
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof StoreAway || connectionFailure in error) return true;
  const code = (error as Error & { code?: unknown }).code;
  if (typeof code !== "string") return false;
  return connectionFailures.has(code) || unavailable.test(code);
}
