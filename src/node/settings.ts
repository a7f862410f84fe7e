/** The settings of a node itself: its mode, its listeners, its stores, its actors. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Mode } from "../config/load.ts";
import {
  address,
  anyText,
  choice,
  derivedText,
  flag,
  identifier,
  integer,
  networks,
  origins,
  port,
  prefix,
  processes,
  readText,
  secret,
  servers,
  text,
  url,
  type Values,
  webUrl,
} from "../config/setting.ts";
import { usualConnectMs, usualStatementMs } from "../store/postgres/pool.ts";
import { DatabaseUrlFault, databaseTls, parseDatabaseUrl } from "../store/postgres/url.ts";
import { usualCommandMs } from "../store/redis/connections.ts";
import { redisContradictions } from "../store/redis/servers.ts";

/** @returns what is wrong with a database URL, its files included; null when nothing is */
function databaseUrlFault(text: string): string | null {
  try {
    databaseTls(parseDatabaseUrl(text));
    return null;
  } catch (error) {
    if (error instanceof DatabaseUrlFault) return error.message;
    throw error;
  }
}

/** Beside the rest of the data where a data directory was chosen, or has volumes from before this was a setting. */
function defaultStorageRoot(read: (name: string) => string | undefined): string {
  const chosen = read("SVC_DATA_DIR");
  if (chosen !== undefined && chosen !== "") return join(chosen, "volumes");
  return existsSync(join(".svc", "volumes")) ? join(".svc", "volumes") : join("data", "volumes");
}

const databaseUrl = { unit: "URL", bounds: "postgres://… or postgresql://…", fault: databaseUrlFault };

export const nodeSettings = {
  host: derivedText("SVC_HOST", {
    meaning: "address of the public listener",
    ...address,
    defaultText: "0.0.0.0; 127.0.0.1 in development",
    fallback: (read) => (read("SVC_MODE") === "development" ? "127.0.0.1" : "0.0.0.0"),
  }),
  port: port("SVC_PORT", { meaning: "port of the public listener", default: 8080 }),
  nodes: processes("SVC_NODES", {
    meaning: "nodes on this machine behind one port, a process each; auto: one for each core",
    max: 64,
  }),
  metricsEnabled: flag("SVC_METRICS_ENABLED", { meaning: "serve Prometheus metrics", default: false }),
  metricsHost: text("SVC_METRICS_HOST", {
    meaning: "address of the metrics listener",
    ...address,
    default: "127.0.0.1",
  }),
  metricsPort: port("SVC_METRICS_PORT", {
    meaning: "port of the metrics listener; each further node of SVC_NODES has the next one",
    default: 9091,
  }),
  publicUrl: derivedText("SVC_PUBLIC_URL", {
    meaning: "where clients reach the public listener",
    ...webUrl,
    defaultText: "http://localhost:{SVC_PORT}",
    fallback: (read) => `http://localhost:${read("SVC_PORT") ?? "8080"}`,
  }),
  corsOrigins: origins("SVC_CORS_ORIGINS", { meaning: "web origins whose pages may call the API" }),
  trustedProxies: networks("SVC_TRUSTED_PROXIES", {
    meaning: "proxies whose Forwarded or X-Forwarded-For names the client",
  }),
  drainSeconds: integer("SVC_DRAIN_SECONDS", {
    meaning: "how long a stopping node may finish what it has begun",
    unit: "s",
    min: 1,
    max: 600,
    default: 20,
  }),
  logLevel: choice("SVC_LOG_LEVEL", {
    meaning: "least severe log line that is written",
    of: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    default: "info",
  }),
  dataDir: text("SVC_DATA_DIR", {
    meaning: "folder of workspaces, volumes, keys and the embedded stores; nodes that share it share the stores",
    ...anyText,
    default: ".svc",
  }),
  storageRoot: derivedText("SVC_STORAGE_ROOT", {
    meaning: "folder of the volumes that stay; nodes that run executions with them share it",
    ...anyText,
    defaultText: "`volumes` of SVC_DATA_DIR where that is set or has it, else ./data/volumes",
    fallback: defaultStorageRoot,
  }),
  databaseUrl: readText("DATABASE_URL", {
    meaning: "PostgreSQL, one host or several; required in production",
    ...databaseUrl,
    defaultText: "embedded in development",
  }),
  databaseDirectUrl: readText("DATABASE_DIRECT_URL", {
    meaning: "PostgreSQL without a pooler between, for migrations",
    ...databaseUrl,
    defaultText: "DATABASE_URL",
  }),
  databaseStatementMs: integer("SVC_DATABASE_STATEMENT_MS", {
    meaning: "how long PostgreSQL may work on one statement",
    unit: "ms",
    min: 1_000,
    max: 600_000,
    default: usualStatementMs,
  }),
  databasePrepared: choice("SVC_DATABASE_PREPARED", {
    meaning: "prepare statements once for a connection; auto: not behind a pooler",
    of: ["auto", "on", "off"],
    default: "auto",
  }),
  storeConnectMs: integer("SVC_STORE_CONNECT_MS", {
    meaning: "how long a connection to PostgreSQL or Redis may take to be opened",
    unit: "ms",
    min: 100,
    max: 60_000,
    default: usualConnectMs,
  }),
  redisCommandMs: integer("SVC_REDIS_COMMAND_MS", {
    meaning: "how long Redis may take to answer a command",
    unit: "ms",
    min: 100,
    max: 60_000,
    default: usualCommandMs,
  }),
  databaseSchema: text("SVC_DATABASE_SCHEMA", {
    meaning: "schema that holds every table; made when absent",
    ...identifier,
    default: "svc",
  }),
  redisUrl: url("REDIS_URL", {
    meaning: "Redis; in production this, REDIS_SENTINELS or REDIS_CLUSTER is required",
    schemes: ["redis", "rediss"],
    defaultText: "embedded in development",
  }),
  redisSentinels: servers("REDIS_SENTINELS", {
    meaning: "Sentinels that say which Redis server takes writes; instead of REDIS_URL",
  }),
  redisSentinelName: text("REDIS_SENTINEL_NAME", {
    meaning: "name under which the Sentinels know the Redis servers",
    pattern: /^[A-Za-z0-9._-]{1,128}$/,
    bounds: "1–128 of A–Z, a–z, 0–9, ., _ and -",
    default: "mymaster",
  }),
  redisSentinelPassword: secret("REDIS_SENTINEL_PASSWORD", { meaning: "password of the Sentinels themselves" }),
  redisCluster: servers("REDIS_CLUSTER", {
    meaning: "nodes of a Redis Cluster, at least one of each failure domain; instead of REDIS_URL",
  }),
  redisUsername: text("REDIS_USERNAME", {
    meaning: "user at the servers of REDIS_SENTINELS or REDIS_CLUSTER",
    ...anyText,
    default: "",
  }),
  redisPassword: secret("REDIS_PASSWORD", {
    meaning: "password at the servers of REDIS_SENTINELS or REDIS_CLUSTER",
  }),
  redisTls: flag("REDIS_TLS", {
    meaning: "reach the servers of REDIS_SENTINELS or REDIS_CLUSTER, and the Sentinels, by TLS",
    default: false,
  }),
  redisCa: readText("REDIS_CA", {
    meaning: "file of the authorities that may sign Redis's certificates (rediss://, REDIS_TLS)",
    unit: "",
    bounds: "a readable file",
    defaultText: "those of the system",
    fault: (path) => (existsSync(path) ? null : "names a file that does not exist"),
  }),
  redisPrefix: text("SVC_REDIS_PREFIX", { meaning: "start of every Redis key", ...prefix, default: "svc" }),
  databasePool: integer("SVC_DATABASE_POOL", {
    meaning: "PostgreSQL connections of a node",
    unit: "connections",
    min: 4,
    max: 200,
    default: 12,
  }),
  partitions: integer("SVC_PARTITIONS", {
    meaning:
      "mailboxes that actors are spread over; read at the first start, a database keeps the number it was set up with",
    min: 1,
    max: 1024,
    default: 256,
  }),
  leaseTtlMs: integer("SVC_LEASE_TTL_MS", {
    meaning: "a node silent for this long loses its partitions",
    unit: "ms",
    min: 500,
    max: 60_000,
    default: 5000,
  }),
  deadLetterRetentionDays: integer("SVC_DEAD_LETTER_RETENTION_DAYS", {
    meaning: "how long a dead letter is kept, replayed or not",
    unit: "days",
    min: 1,
    max: 3650,
    default: 30,
  }),
  activityRetentionDays: integer("SVC_ACTIVITY_RETENTION_DAYS", {
    meaning: "work that no node has run for this long fails",
    unit: "days",
    min: 1,
    max: 3650,
    default: 30,
  }),
  mailboxLimit: integer("SVC_MAILBOX_LIMIT", {
    meaning: "waiting messages per partition; over it senders get 503",
    unit: "messages",
    min: 10,
    max: 1_000_000,
    default: 10_000,
  }),
  actorIdleSeconds: integer("SVC_ACTOR_IDLE_SECONDS", {
    meaning: "an actor without messages for this long leaves memory",
    unit: "s",
    min: 1,
    max: 86_400,
    default: 300,
  }),
  actorCache: integer("SVC_ACTOR_CACHE", {
    meaning: "actors a node keeps in memory at most",
    unit: "actors",
    min: 1,
    max: 1_000_000,
    default: 20_000,
  }),
};

/** What the node's settings contradict each other in. */
export function nodeContradictions(
  config: Partial<Values<typeof nodeSettings>>,
  { production }: Mode,
): readonly string[] {
  const problems: string[] = [];
  if (production && config.databaseUrl === null) problems.push("DATABASE_URL is required in production");
  const hasNodes = [config.redisSentinels, config.redisCluster].some((list) => list === undefined || list.length > 0);
  if (production && config.redisUrl === null && !hasNodes)
    problems.push("REDIS_URL is required in production, or REDIS_SENTINELS or REDIS_CLUSTER");
  problems.push(...redisContradictions(config));
  return problems;
}
