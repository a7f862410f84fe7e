/** Secrets in a vault of one's own (docs/reference/secrets.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openVault, type Vault, type VaultSettings } from "../../../src/adapters/vault/port.ts";
import type { SecretContent } from "../../../src/features/secrets/store.ts";
import { vaultSecrets } from "../../../src/features/secrets/vault/store.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { manifest, say } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { type FakeVault, startVault } from "../../harness/outside/vault.ts";
import { startVendor, type Vendor } from "../../harness/outside/vendor.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { conformance, counting } from "./conformance.ts";

let fake: FakeVault;
let folder: string;
beforeAll(() => {
  fake = startVault();
  folder = mkdtempSync(join(tmpdir(), "svc-vault-"));
});
afterAll(async () => {
  await fake?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const opened = (settings: Partial<VaultSettings> = {}): Vault =>
  openVault({
    address: fake.url,
    caFile: null,
    mount: "secret",
    auth: { method: "token", token: new Secret(fake.rootToken) },
    now: Date.now,
    report: () => {},
    ...settings,
  });
const storeOn = (vault: Vault, namespaces = false, namespace: string | null = null) =>
  vaultSecrets({ vault, namespaces, namespaceOf: async () => namespace });
const data = (fields: Record<string, string>): SecretContent => ({ form: "data", data: fields });
const write = (content: SecretContent, condition: number | "new" | null = null) => ({
  content,
  condition,
  workId: crypto.randomUUID(),
});

conformance("a vault", () => ({ store: storeOn(opened()), describesEntries: false }));
conformance("namespaces of a vault", () => ({ store: storeOn(opened(), true), describesEntries: false }));

test("a vault_namespace is a folder of the mount, or a namespace of the server", async () => {
  await storeOn(opened(), false, "teams/red/").write("t", "a/b", write(data({ x: "in-a-folder" })), counting());
  await storeOn(opened(), true, "teams/red").write("t", "a/b", write(data({ x: "in-a-namespace" })), counting());
  expect(fake.contents()).toContain('["|teams/red/a/b",');
  expect(fake.contents()).toContain('["teams/red|a/b",');
  // No name makes a tenant the owner of all.
  for (const namespace of ["", "/", "..", "a/../.."]) {
    await storeOn(opened(), false, namespace).write("odd", "p", write(data({})), counting());
    await storeOn(opened(), false, namespace).erase("odd");
  }
  expect((await storeOn(opened(), false, "teams/red/").read("t", "a/b"))?.content).toEqual(data({ x: "in-a-folder" }));
});

test("what others wrote is served as far as it fits; their deletions count", async () => {
  const store = storeOn(opened());
  fake.put(null, "tenant-mixed/theirs", { count: 3, nested: { a: 1 }, text: "t" });
  fake.put(null, "tenant-mixed/bad name", { x: "y" });
  fake.put(null, "tenant-mixed/gone", { x: "y" });
  fake.softDelete(null, "tenant-mixed/gone");
  expect((await store.read("mixed", "theirs"))?.content).toEqual(data({ count: "3", nested: '{"a":1}', text: "t" }));
  expect(await store.read("mixed", "gone")).toBeNull();
  const listed = await store.list("mixed", { prefix: null, after: null, offset: 0, limit: 10 });
  expect(listed.map(({ path }) => path)).toEqual(["gone", "theirs"]);
  expect((await store.write("mixed", "gone", write(data({ x: "new" }), "new"), counting())).version).toBe(2);
  await store.erase("mixed");
  expect(fake.contents()).not.toContain("tenant-mixed");
});

test("a mount that wants a version with each write gets it", async () => {
  const store = storeOn(opened());
  fake.requireCas(true);
  const versions = [];
  for (const x of ["1", "2"]) versions.push((await store.write("cas", "p", write(data({ x })), counting())).version);
  fake.requireCas(false);
  expect(versions).toEqual([1, 2]);
});

test("the entry comes first, and one with outcome failed after a write that failed", async () => {
  const store = storeOn(opened());
  const [good, conflict, away] = [counting(), counting(), counting()];
  await store.write("log", "p", write(data({})), good);
  await store.write("log", "p", write(data({}), "new"), conflict).catch(() => {});
  const broken: Vault = {
    ...opened(),
    write: () => opened({ address: "http://127.0.0.1:1" }).write({ namespace: null, path: "p" }, {}, null),
  };
  const lost = storeOn(broken).write("log", "p", write(data({})), away);
  expect(await lost.catch((error) => [error.status, error.code])).toEqual([503, "secrets_unavailable"]);
  expect([good.outcomes, conflict.outcomes, away.outcomes]).toEqual([
    ["allowed"],
    ["allowed", "failed"],
    ["allowed", "failed"],
  ]);
});

test("data with the name that the store keeps for itself is refused", async () => {
  const refused = storeOn(opened()).write("t", "p", write(data({ svc_encoding: "x" })), counting());
  expect(await refused.catch((error) => error.status)).toBe(422);
});

describe("the token", () => {
  test("of a pod's service account is had, renewed in time, and had anew once refused", async () => {
    const tokenFile = join(folder, "pod-token");
    await Bun.write(tokenFile, "pod-token\n");
    fake.setTtl(100);
    let now = Date.now();
    const kubernetes = { method: "kubernetes", role: "svc", mount: "kubernetes", tokenFile } as const;
    const vault = opened({ auth: kubernetes, now: () => now });
    const logins = () => fake.asked.filter((line) => line === "POST auth/kubernetes/login").length;
    const renewals = () => fake.asked.filter((line) => line === "POST auth/token/renew-self").length;
    const [before, renewedBefore] = [logins(), renewals()];
    await vault.probe();
    expect(logins()).toBe(before + 1);
    now += 60_000;
    const stop = vault.start();
    await until(() => renewals() === renewedBefore + 1, { what: "the renewal" });
    await stop();
    await vault.probe();
    expect(logins()).toBe(before + 1);
    // Ended altogether: the next request gets another one.
    now += 200_000;
    await vault.probe();
    expect(logins()).toBe(before + 2);
    await Bun.write(tokenFile, "of another pod");
    now += 200_000;
    expect(await vault.probe().catch((error) => error.name)).toBe("VaultUnavailable");
  });

  test("that is refused is no leak: the failure names neither token nor path", async () => {
    const vault = opened({ auth: { method: "token", token: new Secret("wrong-token-value") } });
    const error = await vault.read({ namespace: null, path: "deep/path" }).catch((thrown) => String(thrown));
    expect(error).toContain("refuses the token");
    expect(error).not.toMatch(/wrong-token|deep/);
  });
});

test("a certificate is checked against SVC_VAULT_CA_FILE", async () => {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const made = Bun.spawnSync([
    "openssl",
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=vault",
    "-addext",
    "subjectAltName=IP:127.0.0.1",
    "-keyout",
    key,
    "-out",
    cert,
  ]);
  expect(made.exitCode).toBe(0);
  const server = startVault({ tls: { key: await Bun.file(key).text(), cert: await Bun.file(cert).text() } });
  const auth = { method: "token", token: new Secret(server.rootToken) } as const;
  const trusting = opened({ address: server.url, auth, caFile: cert });
  const others = opened({ address: server.url, auth });
  await trusting.probe();
  expect(await others.probe().catch((error) => error.name)).toBe("VaultUnavailable");
  await server.stop();
});

const program = Bun.which("bao") ?? Bun.which("vault");
describe.skipIf(program === null)("a real server", () => {
  const token = "root-of-a-real-one";
  let child: Bun.Subprocess | null = null;
  let address = "";
  beforeAll(async () => {
    const port = await new Promise<number>((resolve) => {
      const probe = createServer().listen(0, "127.0.0.1", () => {
        const found = probe.address();
        probe.close(() => resolve(typeof found === "object" && found !== null ? found.port : 0));
      });
    });
    address = `http://127.0.0.1:${port}`;
    const server = ["server", "-dev", `-dev-root-token-id=${token}`, `-dev-listen-address=127.0.0.1:${port}`];
    child = Bun.spawn([program ?? "", ...server], {
      stdout: "ignore",
      stderr: "ignore",
      env: { ...process.env, HOME: folder },
    });
    const isUp = () =>
      fetch(`${address}/v1/sys/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(isUp, { timeoutMs: 30_000, what: "the server" });
  });
  afterAll(async () => {
    child?.kill("SIGKILL");
    await child?.exited;
  });
  const real = () => opened({ address, auth: { method: "token", token: new Secret(token) } });
  conformance("a real server", () => ({ store: storeOn(real()), describesEntries: false }));
});

describe("a node with a vault", () => {
  let stores: TestStores;
  let node: NodeProcess;
  let vendor: Vendor;
  beforeAll(async () => {
    [stores, vendor] = await Promise.all([freshStores(), startVendor()]);
    const scripted = { type: "scripted", name: "scripted", models: [{ alias: "default", model: "s" }] };
    const spare = { ...scripted, name: "spare", models: [{ alias: "keyed", model: "s" }] };
    const keyed = {
      ...{ name: "keyed", type: "openai", endpoint: vendor.endpoint("openai"), api_key: "secret:models/openai#key" },
      models: [{ alias: "keyed", model: "m" }],
    };
    const SVC_CONFIG_FILE = join(folder, "config.json");
    const llm_selection = { default_provider: "keyed", fallback_provider: "spare", max_retries: 0 };
    writeFileSync(SVC_CONFIG_FILE, JSON.stringify({ llm_providers: [keyed, scripted, spare], llm_selection }));
    const env = {
      SVC_SECRETS_BACKEND: "vault",
      SVC_VAULT_ADDR: fake.url,
      SVC_VAULT_TOKEN: fake.rootToken,
      SVC_CONFIG_FILE,
    };
    node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "debug", ...env } });
  });
  afterAll(async () => {
    fake.seal(false);
    await node?.dispose();
    await stores?.dispose();
    await vendor?.close();
  });
  const owner = async () => ({
    Authorization: `Bearer ${await node.token({ username: "owner" }, "tenant-acme")}`,
  });
  const call = async (method: string, path: string, body?: unknown) => node.call(method, path, body, await owner());

  test("routes, references and readiness work by it; no value is in PostgreSQL", async () => {
    const value = "only-in-the-vault-1";
    const written = await call("PUT", "/v1/secrets/app/key", { value });
    expect([written.status, written.body.version]).toEqual([200, 1]);
    expect((await call("GET", "/v1/secrets/app/key")).body).toMatchObject({ value, encoding: "plaintext", version: 1 });
    expect((await call("GET", "/v1/secrets?path_prefix=app")).body.items).toEqual([
      { name: "app/key", last_modified: null, size_bytes: null, version: null },
    ]);
    const document = manifest({ script: [say("done")], spec: { env: { KEY: "secret:app/key" } } });
    const { agent_id } = (await call("POST", "/v1/agents", document)).body;
    const started = await call("POST", "/v1/executions?wait_seconds=30", { agent_id, input: "" });
    expect(started.body.status).toBe("completed");
    const used = await call("GET", "/v1/audit?action=secret.");
    expect(used.body.items.map(({ action }: { action: string }) => action)).toContain("secret.used");
    const tables = await stores.sql<{ name: string }[]>`
      select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
    for (const { name } of tables) {
      const [row] = await stores.sql.unsafe(
        `select count(*)::int as found from ${name} t where t::text like '%${value}%'`,
      );
      expect([name, row?.found]).toEqual([name, 0]);
    }
    expect(fake.contents()).toContain(value);
    const { body } = await node.call("GET", "/health/ready");
    expect([body.status, body.dependencies.secrets.status]).toEqual(["ready", "up"]);

    fake.seal(true);
    for (const [method, path, given] of [
      ["GET", "/v1/secrets", undefined],
      ["GET", "/v1/secrets/app/key", undefined],
      ["PUT", "/v1/secrets/app/key", { value: "x" }],
      ["DELETE", "/v1/secrets/app/key", undefined],
      ["POST", "/v1/executions", { agent_id, input: "" }],
    ] as const) {
      const answer = await call(method, path, given);
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 503, "secrets_unavailable"]);
      expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
    }
    const degraded = await until(
      async () => {
        const ready = await node.call("GET", "/health/ready");
        return ready.body.dependencies.secrets.status === "down" && ready;
      },
      { what: "the readiness" },
    );
    expect([degraded.status, degraded.body.status]).toEqual([200, "degraded"]);
    fake.seal(false);
    expect((await call("GET", "/v1/secrets/app/key")).body.value).toBe(value);
    expect(node.output).not.toContain(value);
    expect(node.output).not.toContain(fake.rootToken);
  });

  test("a model's key is what the secret holds now; with no vault another answers", async () => {
    const admin = await node.token(
      { grant_type: "password", username: "admin", password: "dev", client_id: "", client_secret: "" },
      "svc-system",
    );
    const asAdmin = { Authorization: `Bearer ${admin}` };
    const document = manifest({ script: [say("from the spare")], tools: [], runtime: { model: "keyed" } });
    const { agent_id } = (await call("POST", "/v1/agents", document)).body;
    const answered = async () => {
      const { body } = await call("POST", "/v1/executions?wait_seconds=30", { agent_id, input: "" });
      return [body.status, body.output ?? body.error_code];
    };
    vendor.always({ reply: { text: "from the vendor" } });
    // A secret of the executing tenant under that path is none.
    await call("PUT", "/v1/secrets/models/openai", { data: { key: "sk-of-the-tenant-1" } });
    expect((await answered())[0]).toBe("failed");
    expect(vendor.requests).toEqual([]);
    const keys = ["sk-kept-in-the-vault-1", "sk-kept-in-the-vault-2"];
    for (const key of keys) {
      const written = await node.call("PUT", "/v1/secrets/models/openai", { data: { key } }, asAdmin);
      expect(written.status).toBe(200);
      expect(await answered()).toEqual(["completed", "from the vendor"]);
      expect(vendor.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`);
    }
    const used = await node.call("GET", "/v1/audit?action=secret.used", undefined, asAdmin);
    const one = { actor: { kind: "system", name: "models" }, details: { reference: "secret:models/openai#key" } };
    expect(used.body.items).toMatchObject([one, one]);
    fake.seal(true);
    expect(await answered()).toEqual(["completed", "from the spare"]);
    fake.seal(false);
    expect(await answered()).toEqual(["completed", "from the vendor"]);
    for (const key of keys) expect(node.output).not.toContain(key);
  });
});

test.each([
  [{ SVC_SECRETS_BACKEND: "vault" }, "SVC_VAULT_ADDR"],
  [{ SVC_SECRETS_BACKEND: "vault", SVC_VAULT_ADDR: "https://v" }, "SVC_VAULT_TOKEN"],
  [{ SVC_SECRETS_BACKEND: "vault", SVC_VAULT_ADDR: "https://v", SVC_VAULT_AUTH: "kubernetes" }, "SVC_VAULT_ROLE"],
])("%j lacks %s, and the node says so", async (given, missing) => {
  const { contradictions, secretSettings } = await import("../../../src/features/secrets/settings.ts");
  const env: Readonly<Record<string, string>> = given;
  const values = Object.fromEntries(
    Object.entries(secretSettings).map(([name, setting]) => {
      const text = env[setting.name];
      return [name, text === undefined ? setting.fallback(() => undefined) : setting.parse(text)];
    }),
  );
  expect(contradictions(values, { production: true }).join()).toContain(missing);
});
