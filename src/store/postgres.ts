/** The PostgreSQL connection pool. Every table lives in the schema named here; SQL never names one itself. */
import type postgresTypes from "postgres";
import { postgres } from "./driver.ts";

export type Sql = postgresTypes.Sql<Record<string, never>>;
/** The connection of an open transaction. */
export type Transaction = postgresTypes.TransactionSql<Record<string, never>>;

export interface PostgresOptions {
  readonly url: string;
  /** Schema that holds every table; made by `migrate` when absent. */
  readonly schema: string;
  /** Connections in the pool. */
  readonly poolSize: number;
}

/** Opens the pool lazily: the first query connects. Reconnects by itself after the server was away. */
export function openPostgres({ url, schema, poolSize }: PostgresOptions): Sql {
  return postgres(url, {
    max: poolSize,
    idle_timeout: 60,
    connect_timeout: 5,
    max_lifetime: 60 * 30,
    // A short pause: a restarted server should be noticed within a second, and attempts cost little.
    backoff: (attempt) => Math.min(1, 0.05 * 2 ** attempt),
    connection: { search_path: schema, application_name: "svc" },
    onnotice: () => {},
  }) as Sql;
}

const connectionFailures = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "CONNECTION_CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOENT",
  "ETIMEDOUT",
]);

/**
 * Whether an error says "the database cannot do this now" and nothing about the statement: SQLSTATE class 08
 * (connection), 25 (idle too long, read-only), 28 and 3D (no access), 40 (rolled back by the server), 53
 * (resources), 55 (in use), 57 (shutdown, crash, starting up, cancelled), 58 (system) and XX (internal).
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as Error & { code?: unknown }).code;
  if (typeof code !== "string") return false;
  return connectionFailures.has(code) || /^(08|25|28|3D|40|53|55|57|58|XX)/.test(code);
}
