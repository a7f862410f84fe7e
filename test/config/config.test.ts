import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../src/config/load.ts";
import { isPrivateAddress } from "../../src/features/gateway/feature.ts";
import { type Config, configTable, loadConfig } from "../../src/node/config.ts";
import { validateConfig } from "../../src/node/validated-config.ts";
import { redisServersOf } from "../../src/store/redis/servers.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(content: string): string {
  const path = join(folder, `${crypto.randomUUID()}.yaml`);
  writeFileSync(path, content);
  return path;
}

const development = { SVC_MODE: "development" };
const production = {
  DATABASE_URL: "postgres://svc@db/svc",
  REDIS_URL: "redis://cache:6379",
  SVC_AUTH_REALMS: '[{"slug":"svc-system"}]',
  SVC_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
};

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("development needs nothing", () => {
  expect(loadConfig(development)).toMatchObject({
    mode: "development",
    host: "127.0.0.1",
    port: 8080,
    internalPort: 8081,
    egressHost: "127.0.0.1",
    egressPort: 8082,
    openEgress: true,
    egressAllowPrivate: null,
    incidentRetentionDays: 90,
    storageViolationRetentionDays: 90,
    stimulusRetentionDays: 30,
    auditRetentionDays: 400,
    masterKey: null,
    previousMasterKey: null,
    publicUrl: "http://localhost:8080",
    dataDir: ".svc",
    databaseUrl: null,
    redisUrl: null,
    corsOrigins: [],
    authRealms: null,
    file: {},
  });
});

test("a misspelt SVC_ variable is told at the start, with the setting it resembles", () => {
  const { unknownSettings } = loadConfig({
    ...development,
    SVC_PROT: "9000",
    SVC_PUBLIC_URI: "https://svc.example",
    SVC_COLOUR_OF_THE_SKY: "blue",
    SVC_EMPTY: "",
    SVC_PORT: "8080",
    SVC_API_URL: "http://localhost:8080",
    SVC_WEBHOOK_SECRET_GITHUB: "x",
    SVC_WEBHOOK_DEFAULT_TENANT: "acme",
    SVC_MODEL_KEY: "k",
    SVC_CONFIG_FILE: file("llm_providers: [{api_key: 'env:SVC_MODEL_KEY'}]"),
    PORT: "1",
  });
  expect(unknownSettings).toEqual([
    "SVC_PROT is no setting and has no effect; did you mean SVC_PORT?",
    "SVC_PUBLIC_URI is no setting and has no effect; did you mean SVC_PUBLIC_URL?",
    "SVC_COLOUR_OF_THE_SKY is no setting and has no effect",
  ]);
});

test("the sample configuration is read, with its realms and its models, as it stands", async () => {
  const config = loadConfig({
    ...production,
    SVC_AUTH_REALMS: "",
    SVC_CONFIG_FILE: join(import.meta.dir, "../../docs/guide/config.sample.yaml"),
    OPENAI_API_KEY: "sk-1",
    ANTHROPIC_API_KEY: "sk-2",
  });
  const { identity, models } = await validateConfig(config, {});
  expect(config.unknownSettings).toEqual([]);
  expect(identity.realms.map(({ slug }) => slug)).toEqual(["svc-system", "consumers", "tenant-acme"]);
  expect(
    models
      .aliases()
      .map(({ alias }) => alias)
      .sort(),
  ).toEqual(["default", "smart"]);
});

test("production is the default and lists all that is missing", () => {
  expect(problemsOf({})).toEqual([
    "DATABASE_URL is required in production",
    "REDIS_URL is required in production, or REDIS_SENTINELS or REDIS_CLUSTER",
    "SVC_AUTH_REALMS (or auth.realms in SVC_CONFIG_FILE) must name at least one realm in production, or SVC_ISSUER be embedded",
    "SVC_MASTER_KEY is required in production: 32 bytes in base64, as openssl rand -base64 32 prints",
  ]);
  expect(loadConfig(production)).toMatchObject({ mode: "production", host: "0.0.0.0", localImages: [] });
  expect(problemsOf({ ...production, SVC_AUTH_REALMS: "[]" })).toHaveLength(1);
  const inFile = file("auth: {realms: [{slug: svc-system}]}");
  expect(problemsOf({ ...production, SVC_AUTH_REALMS: "", SVC_CONFIG_FILE: inFile })).toEqual([]);
});

test("Redis is one server, servers of Sentinel or a Cluster", () => {
  const redis = (settings: Record<string, string>) =>
    redisServersOf(loadConfig({ SVC_MODE: "development", ...settings }));
  const problems = (settings: Record<string, string>) => problemsOf({ SVC_MODE: "development", ...settings });
  expect(redis({})).toBe(null);
  expect(redis({ REDIS_URL: "redis://a" })).toBe("redis://a");
  const nodes = [
    { host: "a.example", port: 6379 },
    { host: "::1", port: 7000 },
  ];
  const list = "a.example:6379, [::1]:7000";
  expect(redis({ REDIS_CLUSTER: list, REDIS_PASSWORD: "p", REDIS_TLS: "true" })).toEqual(
    expect.objectContaining({ cluster: nodes, username: null, password: "p", tls: true }),
  );
  expect(redis({ REDIS_SENTINELS: list, REDIS_SENTINEL_NAME: "n", REDIS_SENTINEL_PASSWORD: "s" })).toEqual(
    expect.objectContaining({ sentinels: nodes, name: "n", sentinelPassword: "s", tls: false }),
  );
  for (const settings of [
    { REDIS_CLUSTER: "a" },
    { REDIS_SENTINELS: "a:0" },
    { REDIS_CLUSTER: "a:1", REDIS_URL: "redis://a" },
    { REDIS_CLUSTER: "a:1", REDIS_SENTINELS: "b:1" },
    { REDIS_PASSWORD: "p" },
    { REDIS_URL: "redis://a", REDIS_TLS: "true" },
    { REDIS_CLUSTER: "a:1", REDIS_SENTINEL_PASSWORD: "p" },
  ])
    expect(problems(settings)).toHaveLength(1);
});

test("the default isolation is what is named, else left to what the node finds", () => {
  expect(loadConfig({ SVC_MODE: "development" }).runtimeDefault).toBe(null);
  for (const isolation of ["process", "docker"] as const) {
    expect(loadConfig({ SVC_MODE: "development", SVC_RUNTIME_DEFAULT: isolation }).runtimeDefault).toBe(isolation);
  }
});

test("every bad value is listed at once, with the missing ones", () => {
  const problems = problemsOf({
    SVC_PORT: "80a",
    SVC_PARTITIONS: "1025",
    SVC_LOG_LEVEL: "loud",
    SVC_AUTH_REALMS: "{}",
    SVC_CONFIG_FILE: "/does/not/exist",
  });
  const names = ["SVC_PORT", "SVC_PARTITIONS", "SVC_LOG_LEVEL", "SVC_AUTH_REALMS", "SVC_CONFIG_FILE"];
  for (const name of [...names, "DATABASE_URL", "REDIS_URL", "SVC_MASTER_KEY"]) {
    expect(problems.filter((problem) => problem.startsWith(`${name} `))).toHaveLength(1);
  }
  expect(problems).toHaveLength(8);
});

describe("one bad value", () => {
  test.each<[string, string]>([
    ["SVC_MODE", "staging"],
    ["SVC_MODE", "toString"],
    ["SVC_RUNTIME_DEFAULT", "firecracker"],
    ["SVC_PORT", "65536"],
    ["SVC_PORT", "8080.5"],
    ["SVC_PORT", "1e3"],
    ["SVC_PORT", "-1"],
    ["SVC_PORT", "9".repeat(400)],
    ["SVC_HOST", "not a host"],
    ["SVC_METRICS_ENABLED", "yes"],
    ["SVC_PUBLIC_URL", "svc.example.com"],
    ["SVC_PUBLIC_URL", "https://svc.example.com/"],
    ["DATABASE_URL", "mysql://db"],
    ["REDIS_URL", "localhost:6379"],
    ["SVC_DATABASE_SCHEMA", 'a"; drop schema public; --'],
    ["SVC_REDIS_PREFIX", "a*"],
    ["SVC_CORS_ORIGINS", "https://a.example.com/path"],
    ["SVC_CORS_ORIGINS", "https://a.example.com,,"],
    ["SVC_CORS_ORIGINS", "*"],
    ["SVC_IMAGE_REGISTRIES", "ghcr.io/acme"],
    ["SVC_IMAGE_REGISTRIES", "ghcr.io,,"],
    ["SVC_LOCAL_IMAGES", "acme/agent,,"],
    ["SVC_LOCAL_IMAGES", "acme/**"],
    ["SVC_LOCAL_IMAGES", "Not An Image"],
    ["SVC_AUTH_REALMS", "[oops"],
    ["SVC_AUTH_LEEWAY_SECONDS", "121"],
    ["SVC_DEV_ISSUER_ALG", "HS256"],
    ["SVC_DEV_CLIENTS", '{"a":1}'],
    ["SVC_LOOP_MAX_ROUNDS", "201"],
    ["SVC_DISPATCH_AUTH", "none"],
    ["SVC_INTERNAL_PORT", "8080"],
    ["SVC_EGRESS_PORT", "8081"],
    ["SVC_EGRESS_ALLOW_PRIVATE", "10.0.0.0/8"],
    ["SVC_OPEN_EGRESS", "no"],
    ["SVC_AUDIT_LOG_RETENTION_DAYS", "0"],
    ["SVC_MASTER_KEY_PREVIOUS", "hunter2"],
  ])("%s=%s", (name, value) => {
    const problems = problemsOf({ ...development, [name]: value });
    expect(problems.filter((problem) => problem.includes(name)).length).toBeGreaterThan(0);
    expect(problems.every((problem) => problem.includes("\n"))).toBe(false);
  });
});

test.each<[Record<string, string>, Partial<Config>]>([
  [{ SVC_PORT: " 9000 " }, { port: 9000, publicUrl: "http://localhost:9000" }],
  [{ SVC_PORT: "" }, { port: 8080, publicUrl: "http://localhost:8080" }],
  [{ SVC_HOST: "::1" }, { host: "::1" }],
  [{ SVC_METRICS_ENABLED: "true" }, { metricsEnabled: true }],
  [{ SVC_METRICS_PORT: "8080" }, { metricsEnabled: false }],
  [
    { SVC_CORS_ORIGINS: "https://a.example.com, http://localhost:3000" },
    { corsOrigins: ["https://a.example.com", "http://localhost:3000"] },
  ],
  [{ SVC_DEV_CLIENTS: "[]" }, { devClients: [] }],
  [{}, { imageRegistries: null, localImages: null, openEgress: true }],
  [{ SVC_LOCAL_IMAGES: "localhost/tools/*, acme/agent" }, { localImages: ["localhost/tools/*", "acme/agent"] }],
  [
    { SVC_IMAGE_REGISTRIES: "ghcr.io, localhost:5000", SVC_OPEN_EGRESS: "false" },
    { imageRegistries: ["ghcr.io", "localhost:5000"], openEgress: false },
  ],
  [{ DATABASE_URL: "postgresql://u:p@h:1/d" }, { databaseUrl: "postgresql://u:p@h:1/d" }],
])("%p is read", (env, expected) => {
  expect(loadConfig({ ...development, ...env })).toMatchObject(expected);
});

describe("trusted_network", () => {
  test.each([
    ["127.0.0.1", true],
    ["localhost", true],
    ["10.1.2.3", true],
    ["172.31.0.1", true],
    ["192.168.7.7", true],
    ["::1", true],
    ["fd00::1", true],
    ["0.0.0.0", false],
    ["::", false],
    ["172.32.0.1", false],
    ["8.8.8.8", false],
    ["internal.example.com", false],
  ])("with SVC_INTERNAL_HOST %s: %p", (host, allowed) => {
    expect(isPrivateAddress(host)).toBe(allowed);
    const problems = problemsOf({ ...development, SVC_DISPATCH_AUTH: "trusted_network", SVC_INTERNAL_HOST: host });
    expect(problems.length === 0).toBe(allowed);
  });
});

describe("the configuration file", () => {
  test("gives its sections as written, YAML or JSON", () => {
    const sections = { auth: { realms: [] }, llm_providers: [{ name: "a" }], llm_selection: { max_retries: 1 } };
    expect(loadConfig({ ...development, SVC_CONFIG_FILE: file(JSON.stringify(sections)) }).file).toEqual(sections);
    expect(loadConfig({ ...development, SVC_CONFIG_FILE: file("llm_providers:\n  - name: a\n") }).file).toEqual({
      llm_providers: [{ name: "a" }],
    });
    expect(loadConfig({ ...development, SVC_CONFIG_FILE: file("# nothing yet\n") }).file).toEqual({});
  });

  test("sets scalars, the environment wins, bounds hold for both", () => {
    const path = file("auth: {leeway_seconds: 5, jwks_cache_ttl_seconds: 60}");
    expect(loadConfig({ ...development, SVC_CONFIG_FILE: path })).toMatchObject({
      authLeewaySeconds: 5,
      authJwksCacheTtlSeconds: 60,
    });
    const both = { ...development, SVC_CONFIG_FILE: path, SVC_AUTH_LEEWAY_SECONDS: "7" };
    expect(loadConfig(both).authLeewaySeconds).toBe(7);
    for (const bad of ["500", "[1]", "soon"]) {
      const problems = problemsOf({ ...development, SVC_CONFIG_FILE: file(`auth: {leeway_seconds: ${bad}}`) });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toStartWith("SVC_AUTH_LEEWAY_SECONDS ");
    }
  });

  test.each([
    ["- a list", "mapping"],
    ["llm_provider: []", "unknown section llm_provider"],
    ["toString: {}", "unknown section toString"],
    ["llm_providers: {}", "llm_providers must be a list"],
    ["auth: []\nllm_selection: x", "auth must be a mapping; section llm_selection must be a mapping"],
    ["a: [", "no valid YAML"],
    [`a: &a [1]\nb: &b [${"*a,".repeat(99)}*a]\nauth: {x: [${"*b,".repeat(99)}*b]}`, "no valid YAML"],
  ])("%p is refused", (content, reason) => {
    const problems = problemsOf({ ...development, SVC_CONFIG_FILE: file(content) });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(reason);
  });
});

test("keys and secrets of the environment do not print", () => {
  const config = loadConfig({ ...development, OPENAI_API_KEY: "sk-very-secret", ANY: " sk-very-secret\n" });
  expect(config.openaiApiKey?.reveal()).toBe("sk-very-secret");
  expect([config.environment("ANY"), config.environmentAsSet().ANY]).toEqual(["sk-very-secret", " sk-very-secret\n"]);
  expect(JSON.stringify(config) + Bun.inspect(config) + String(config.openaiApiKey)).not.toContain("sk-very-secret");
  expect(config.openaiApiKey?.removeFrom("bad key sk-very-secret")).toBe("bad key [secret]");
  expect(problemsOf({ ...development, DATABASE_URL: "db:hunter2" }).join()).not.toContain("hunter2");
});

test("a master key is 32 bytes in base64, padded or not; others are refused unseen", () => {
  const key = Buffer.from(Array.from({ length: 32 }, (_, at) => at * 8)).toString("base64");
  for (const written of [key, key.slice(0, -1)]) {
    const config = loadConfig({ ...production, SVC_MASTER_KEY: written, SVC_MASTER_KEY_PREVIOUS: key });
    expect([config.masterKey?.reveal(), config.previousMasterKey?.reveal()]).toEqual([written, key]);
    expect(JSON.stringify(config) + Bun.inspect(config)).not.toContain(key.slice(0, -1));
  }
  const others = [
    "hunter2",
    Buffer.alloc(31, 1).toString("base64"),
    Buffer.alloc(33, 1).toString("base64"),
    Buffer.alloc(32, 1).toString("hex"),
    Buffer.alloc(32, 255).toString("base64url"),
    `${key}=`,
    `${key.slice(0, 20)} ${key.slice(20)}`,
    `${key.slice(0, -2)}h=`,
  ];
  for (const written of others) {
    expect(problemsOf({ ...production, SVC_MASTER_KEY: written })).toEqual([
      "SVC_MASTER_KEY must be 32 bytes in base64",
    ]);
  }
});

test("the table names every variable with its default, unit and bounds", () => {
  const rows = configTable().split("\n");
  expect(rows[0]).toMatch(/^NAME +DEFAULT +UNIT +BOUNDS +MEANING$/);
  expect(rows.find((row) => row.startsWith("SVC_LEASE_TTL_MS"))).toMatch(/5000 +ms +500–60000 +a node/);
  const names = rows.slice(1).map((row) => row.split(" ")[0]);
  expect(new Set(names).size).toBe(names.length);
  expect(rows.some((row) => row.split(/ {2,}/).length < 3)).toBe(false);
});

test("the section egress of the file, which the environment overrules", () => {
  const SVC_CONFIG_FILE = file("egress: {allow_private: [10.0.0.0/8], open: false}");
  expect(loadConfig({ ...development, SVC_CONFIG_FILE })).toMatchObject({
    egressAllowPrivate: ["10.0.0.0/8"],
    openEgress: false,
  });
  const SVC_EGRESS_ALLOW_PRIVATE = "[]";
  expect(loadConfig({ ...development, SVC_CONFIG_FILE, SVC_EGRESS_ALLOW_PRIVATE }).egressAllowPrivate).toEqual([]);
});
