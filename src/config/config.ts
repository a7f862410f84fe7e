/**
 * The service's configuration: one table, read once at the start.
 *
 * Nothing else reads the environment. A part of the service gets the values it needs handed over by
 * `src/main.ts`. The table below is the documentation, too: `--help` prints it. `load-config.ts` reads it.
 */

import { executionSettings } from "./executions.ts";
import type { ConfigFile } from "./file.ts";
import {
  address,
  anyText,
  choice,
  derivedText,
  describeSettings,
  flag,
  identifier,
  integer,
  json,
  origins,
  port,
  prefix,
  type Setting,
  secret,
  text,
  url,
  webUrl,
} from "./setting.ts";

/** Every setting of the service. The key is its name in `Config`. */
export const settings = {
  mode: choice("SVC_MODE", {
    meaning: "development brings its own stores, token issuer and scripted model; production has none of them",
    of: ["production", "development"],
    default: "production",
  }),

  // Listeners
  host: derivedText("SVC_HOST", {
    meaning: "address of the public listener",
    ...address,
    defaultText: "0.0.0.0; 127.0.0.1 in development",
    fallback: (read) => (read("SVC_MODE") === "development" ? "127.0.0.1" : "0.0.0.0"),
  }),
  port: port("SVC_PORT", { meaning: "port of the public listener", default: 8080 }),
  internalHost: text("SVC_INTERNAL_HOST", {
    meaning: "address of the listener for agents",
    ...address,
    default: "127.0.0.1",
  }),
  internalPort: port("SVC_INTERNAL_PORT", { meaning: "port of the listener for agents", default: 8081 }),
  egressHost: text("SVC_EGRESS_HOST", {
    meaning: "address of the egress proxy",
    ...address,
    default: "127.0.0.1",
  }),
  egressPort: port("SVC_EGRESS_PORT", { meaning: "port of the egress proxy", default: 8082 }),
  metricsEnabled: flag("SVC_METRICS_ENABLED", { meaning: "serve Prometheus metrics", default: false }),
  metricsHost: text("SVC_METRICS_HOST", {
    meaning: "address of the metrics listener",
    ...address,
    default: "127.0.0.1",
  }),
  metricsPort: port("SVC_METRICS_PORT", { meaning: "port of the metrics listener", default: 9091 }),
  publicUrl: derivedText("SVC_PUBLIC_URL", {
    meaning: "where clients reach the public listener",
    ...webUrl,
    defaultText: "http://localhost:{SVC_PORT}",
    fallback: (read) => `http://localhost:${read("SVC_PORT") ?? "8080"}`,
  }),
  corsOrigins: origins("SVC_CORS_ORIGINS", { meaning: "web origins whose pages may call the API" }),
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

  // Stores
  dataDir: text("SVC_DATA_DIR", {
    meaning: "folder of workspaces, volumes, keys and the embedded stores; nodes that share it share the stores",
    ...anyText,
    default: ".svc",
  }),
  databaseUrl: url("DATABASE_URL", {
    meaning: "PostgreSQL; required in production",
    schemes: ["postgres", "postgresql"],
    defaultText: "embedded in development",
  }),
  databaseSchema: text("SVC_DATABASE_SCHEMA", {
    meaning: "schema that holds every table; made when absent",
    ...identifier,
    default: "svc",
  }),
  redisUrl: url("REDIS_URL", {
    meaning: "Redis; required in production",
    schemes: ["redis", "rediss"],
    defaultText: "embedded in development",
  }),
  redisPrefix: text("SVC_REDIS_PREFIX", { meaning: "start of every Redis key", ...prefix, default: "svc" }),
  databasePool: integer("SVC_DATABASE_POOL", {
    meaning: "PostgreSQL connections of a node",
    unit: "connections",
    min: 4,
    max: 200,
    default: 12,
  }),

  // Encryption at rest
  masterKey: secret("SVC_MASTER_KEY", {
    meaning: "key that stored secrets are sealed with; required in production",
    bytes: 32,
    defaultText: "kept in SVC_DATA_DIR in development",
  }),
  previousMasterKey: secret("SVC_MASTER_KEY_PREVIOUS", {
    meaning: "the key before: it still opens, and what it sealed is sealed anew with SVC_MASTER_KEY",
    bytes: 32,
  }),
  auditRetentionDays: integer("SVC_AUDIT_LOG_RETENTION_DAYS", {
    meaning: "how long entries of the audit log are kept",
    unit: "days",
    min: 1,
    max: 3650,
    default: 400,
  }),

  // Identity
  configFile: text("SVC_CONFIG_FILE", {
    meaning: "YAML or JSON file with the sections auth, llm_providers, llm_selection and egress",
    pattern: anyText.pattern,
    bounds: "a path",
    default: "",
  }),
  authRealms: json("SVC_AUTH_REALMS", {
    meaning: "realms whose tokens are accepted; replaces auth.realms of the file; one is required in production",
    shape: "array",
  }),
  authLeewaySeconds: integer("SVC_AUTH_LEEWAY_SECONDS", {
    meaning: "tolerated clock difference in tokens; auth.leeway_seconds in the file",
    unit: "s",
    min: 0,
    max: 120,
    default: 30,
    filePath: ["auth", "leeway_seconds"],
  }),
  authJwksCacheTtlSeconds: integer("SVC_AUTH_JWKS_CACHE_TTL_SECONDS", {
    meaning: "how long a realm's keys count as fresh; auth.jwks_cache_ttl_seconds in the file",
    unit: "s",
    min: 1,
    max: 86_400,
    default: 300,
    filePath: ["auth", "jwks_cache_ttl_seconds"],
  }),
  devIssuerAlg: choice("SVC_DEV_ISSUER_ALG", {
    meaning: "signature of the development issuer's tokens",
    of: ["RS256", "ES256", "EdDSA"],
    default: "RS256",
  }),
  devClients: json("SVC_DEV_CLIENTS", {
    meaning: "clients of the development issuer",
    shape: "array",
    defaultText: "svc-dev and svc-service",
  }),
  devPassword: text("SVC_DEV_PASSWORD", {
    meaning: "password of every person at the development issuer",
    ...anyText,
    default: "dev",
  }),

  // Durable actors
  partitions: integer("SVC_PARTITIONS", {
    meaning: "mailboxes that actors are spread over; fixed once the database is set up",
    min: 1,
    max: 1024,
    default: 64,
  }),
  leaseTtlMs: integer("SVC_LEASE_TTL_MS", {
    meaning: "a node silent for this long loses its partitions",
    unit: "ms",
    min: 500,
    max: 60_000,
    default: 5000,
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

  // Executions
  ...executionSettings,

  // Mail
  smtpUrl: url("SVC_SMTP_URL", {
    meaning: "SMTP server that mail is sent by, with user and password; without one no manifest may ask for mail",
    schemes: ["smtp", "smtps"],
    defaultText: "no mail is sent",
  }),
  smtpFrom: derivedText("SVC_SMTP_FROM", {
    meaning: "sender of the service's mail",
    pattern: /^[^\r\n\0@]*[^\s\0@]@[^\s\0@]+$/,
    bounds: "an address, with or without a name",
    defaultText: "svc@ and the host of SVC_PUBLIC_URL",
    fallback: (read) => `svc@${hostOf(read("SVC_PUBLIC_URL"))}`,
  }),

  // Dispatch gateway
  loopMaxRounds: integer("SVC_LOOP_MAX_ROUNDS", {
    meaning: "model turns of one inner loop",
    unit: "turns",
    min: 1,
    max: 200,
    default: 50,
  }),
  dispatchGraceSeconds: integer("SVC_DISPATCH_GRACE_SECONDS", {
    meaning: "how long an agent may take to answer a dispatch beyond the command's own timeout",
    unit: "s",
    min: 1,
    max: 3600,
    default: 120,
  }),
  dispatchMaxBodyBytes: integer("SVC_DISPATCH_MAX_BODY_BYTES", {
    meaning: "largest message an agent may send",
    unit: "bytes",
    min: 1024,
    max: 268_435_456,
    default: 16_777_216,
  }),
  dispatchAuth: choice("SVC_DISPATCH_AUTH", {
    meaning: "trusted_network takes the execution from the message; only with a loopback or private SVC_INTERNAL_HOST",
    of: ["required", "trusted_network"],
    default: "required",
  }),
  toolParallelism: integer("SVC_TOOL_PARALLELISM", {
    meaning: "tool calls of one model turn that run at once",
    unit: "calls",
    min: 1,
    max: 128,
    default: 8,
  }),
  toolMessageMaxBytes: integer("SVC_TOOL_MESSAGE_MAX_BYTES", {
    meaning: "longest tool result a model is shown",
    unit: "bytes",
    min: 1024,
    max: 16_777_216,
    default: 65_536,
  }),

  // Models
  openaiApiKey: secret("OPENAI_API_KEY", { meaning: "OpenAI; serves default when no provider is configured" }),
  anthropicApiKey: secret("ANTHROPIC_API_KEY", { meaning: "Anthropic; likewise" }),
  googleApiKey: secret("GOOGLE_GENERATIVE_AI_API_KEY", { meaning: "Google; likewise" }),
  ollamaUrl: text("SVC_OLLAMA_URL", {
    meaning: "an Ollama that answers here serves default when no provider is configured",
    ...webUrl,
    default: "http://127.0.0.1:11434",
  }),
} as const satisfies Record<string, Setting<unknown>>;

/** Of a URL that another setting may refuse yet. */
function hostOf(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : "localhost";
}

type Table = typeof settings;

/** Every setting's value, and the sections of the configuration file as written. */
export type Config = { readonly [K in keyof Table]: ReturnType<Table[K]["parse"]> } & {
  readonly file: ConfigFile;
  /** The environment, for `env:NAME` references that an operator writes into the configuration file. */
  readonly environment: (name: string) => string | undefined;
  /** Every variable byte for byte as it was set, for secrets whose names depend on what they are for. */
  readonly environmentAsSet: () => Readonly<Record<string, string | undefined>>;
};

/** The table as aligned text, for `--help`. */
export const configTable = (): string => describeSettings(Object.values(settings));

/** Variables whose names say what they are for (stimuli contract, section 4). */
export const webhookVariables = `Secrets of webhooks, beside those of source routes; names in capitals, other characters as _:
  SVC_WEBHOOK_SECRET_<SOURCE>            of a source, for one tenant:
  SVC_WEBHOOK_TENANT_<SOURCE>              this one, else
  SVC_WEBHOOK_DEFAULT_TENANT               this one, else svc-system
  SVC_WEBHOOK_SECRET_<TENANT>__<SOURCE>  of a source, for that tenant
  …_PREVIOUS of either                   accepted as well, for rotation`;
