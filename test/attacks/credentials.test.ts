/** Credentials in places where they do not belong, and callers on routes that are not theirs, over every route. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";
import { type Operation, operationsOf, targetOf } from "./sweep/operations.ts";

let stores: TestStores;
let node: NodeProcess;
let operations: readonly Operation[];
let token: string;
let key: string;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "trace" } });
  operations = await operationsOf(node.url);
  token = await node.token({ username: "ann" }, "tenant-acme");
  await node.call("POST", "/v1/volumes", { label: "own" }, { Authorization: `Bearer ${token}` });
  key = (await node.call("POST", "/v1/api-keys", { name: "leaks" }, { Authorization: `Bearer ${token}` })).body.key;
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

const atOnce = 8;
async function inTurns<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < items.length; first += atOnce)
    await Promise.all(items.slice(first, first + atOnce).map(act));
}

interface Wrong {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A credential wherever a client may put one by mistake. */
function* misplaced(credential: string): Generator<Wrong> {
  const bearer = { Authorization: `Bearer ${credential}` };
  const basic = Buffer.from(`ann:${credential}`).toString("base64");
  for (const operation of operations) {
    const { method, inPath, inQuery } = operation;
    const target = targetOf(operation, {});
    const joined = (query: string) => `${target}${target.includes("?") ? "&" : "?"}${query}`;
    // As a client sends it, and with a signature that was cut.
    yield { method, target, headers: method === "GET" ? bearer : { Authorization: `Bearer ${credential}x` } };
    for (const name of ["token", "access_token", "api_key_secret"]) {
      yield { method, target: joined(`${name}=${credential}`), headers: {} };
    }
    const [first] = inPath;
    if (first !== undefined)
      yield { method: "GET", target: targetOf(operation, { [first.name]: credential }), headers: bearer };
    if (inQuery.length === 0) {
      yield {
        method,
        target,
        headers: { "X-API-Key": credential, Cookie: `token=${credential}`, "X-Svc-Signature": `sha256=${credential}` },
      };
      yield { method, target, headers: { Authorization: `Basic ${basic}` } };
      yield { method, target, headers: { Authorization: credential } };
    }
  }
  yield {
    method: "POST",
    target: "/v1/webhooks/github",
    headers: { ...bearer, "X-Svc-Signature": `sha256=${credential}` },
  };
  yield { method: "GET", target: `/health?token=${credential}`, headers: bearer };
  yield { method: "GET", target: `/nowhere?token=${credential}`, headers: bearer };
  yield { method: "PATCH", target: `/v1/agents?token=${credential}`, headers: bearer };
}

/** Rows of any table that hold a text. */
async function rowsWith(text: string): Promise<readonly string[]> {
  const tables = await stores.sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = ${stores.schema}`;
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await stores.sql.unsafe(`select 1 from "${name}" t where position($1 in t::text) > 0 limit 1`, [text]);
    if (rows.length > 0) found.push(name);
  }
  return found;
}

test("a token or key, wherever a client puts it, is in no log and no table", async () => {
  const [, , signature = ""] = token.split(".");
  for (const [credential, telling] of [
    [token, signature],
    [key, key],
  ] as const) {
    const wrongs = [...misplaced(credential)];
    await inTurns(wrongs, async ({ method, target, headers }) => {
      const response = await fetch(node.url + target, { method, headers });
      // Streams have no end.
      if (response.headers.get("content-type")?.startsWith("text/event-stream")) return response.body?.cancel();
      const text = await response.text();
      // Who sent it may read it again.
      if (response.status >= 500 && response.status !== 501)
        throw new Error(`${method} ${target}: ${response.status} ${text.slice(0, 500)}`);
    });
    expect(wrongs.length).toBeGreaterThan(500);
    // The log is written for every request, also for the last of them.
    await until(() => node.output.includes("/nowhere"), { what: "the log" });
    expect([node.output.includes("REDACTED"), node.output.includes(telling)]).toEqual([true, false]);
    expect(node.output.includes(Buffer.from(`ann:${credential}`).toString("base64"))).toBe(false);
    const entries = async () => (await stores.sql`select 1 from audit_entries where action = 'auth.failed'`).length > 0;
    await until(entries, { what: "the entries of refusals" });
    expect(await rowsWith(telling)).toEqual([]);
  }
}, 120_000);

test("only platform operators come to routes of administrators, and nothing changes", async () => {
  const bearer = async (realm: string, fields: Readonly<Record<string, string>> = {}) => {
    return { Authorization: `Bearer ${await node.token(fields, realm)}` };
  };
  const machine = { client_id: "svc-service", client_secret: "svc-service-secret" };
  const callers = [
    await bearer("svc-consumer", { username: "cleo", tier: "enterprise", scope: "*" }),
    await bearer("tenant-acme", { username: "ann", role: "tenant:owner", scope: "*" }),
    await bearer("tenant-acme", { username: "mia", role: "tenant:member" }),
    await bearer("svc-system", machine),
    { Authorization: `Bearer ${key}` },
    { ...(await bearer("tenant-acme", { username: "ann" })), "X-Svc-Tenant": "svc-system" },
  ];
  const admin = operations.filter(({ path }) => path.startsWith("/v1/admin/"));
  expect(admin.length).toBeGreaterThan(1);
  const state = async () => [
    await stores.sql`select * from tenants order by slug`,
    await stores.sql`select action, count(*)::int as count from audit_entries where action not like 'auth.%' group by 1 order by 1`,
  ];
  for (const headers of callers) await node.call("GET", "/v1/agents", undefined, headers);
  const before = await state();
  for (const headers of callers) {
    await inTurns(admin, async (operation) => {
      const { method, path, example } = operation;
      const body = method === "GET" ? undefined : example;
      const answer = await node.call(method, targetOf(operation, { slug: "acme" }), body, headers);
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 403, "operator_required"]);
    });
  }
  expect(await state()).toEqual(before);
});

test("no route changes or deletes entries of the audit log", async () => {
  const operator = { Authorization: `Bearer ${await node.token()}` };
  const audit = operations.filter(({ path }) => /\/audit(?:\/|$)/.test(path));
  expect(audit.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(["GET /v1/admin/audit", "GET /v1/audit"]);
  for (const path of ["/v1/audit", "/v1/admin/audit", `/v1/audit/${crypto.randomUUID()}`]) {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const { status } = await node.call(method, path, {}, operator);
      expect([method, path, status === 404 || status === 405]).toEqual([method, path, true]);
    }
  }
});
