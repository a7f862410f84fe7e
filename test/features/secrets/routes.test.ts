/** Secrets through the API (docs/reference/secrets.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { parseAnswer, rawRequest } from "../../http/raw.ts";

let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "debug" } });
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

type Headers = Readonly<Record<string, string>>;
const bearer = async (fields: Headers, realm: string) => ({
  Authorization: `Bearer ${await node.token(fields, realm)}`,
});
/** Owner of the tenant `acme`, `other` and so on. */
const owner = (tenant = "acme") => bearer({ username: `owner-of-${tenant}` }, `tenant-${tenant}`);
const call = async (method: string, path: string, body?: unknown, headers?: Headers) =>
  node.call(method, `/v1/secrets${path}`, body, headers ?? (await owner()));

describe("a secret written, listed, read and deleted", () => {
  test("is listed under path_prefix=db, not under d; If-None-Match on it is 412", async () => {
    const value = "a-most-recognisable-password";
    const written = await call("PUT", "/db/password", { value });
    expect(written.status).toBe(200);
    expect(written.body).toEqual({
      status: "written",
      path: "db/password",
      version: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const entry = { name: "db/password", last_modified: written.body.updated_at, size_bytes: 28, version: 1 };
    const list = await call("GET", "?path_prefix=db");
    expect(list.body).toEqual({ items: [entry], secrets: [entry], count: 1, next_cursor: null });
    expect((await call("GET", "?path_prefix=d")).body.count).toBe(0);
    expect((await call("GET", "?path_prefix=db/password")).body.count).toBe(1);
    const read = await call("GET", "/db/password");
    expect(read.body).toEqual({
      path: "db/password",
      name: "db/password",
      value,
      encoding: "plaintext",
      data: null,
      fields: [],
      version: 1,
      created_at: written.body.created_at,
      updated_at: written.body.updated_at,
    });
    for (const answer of [written, list, read]) expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(read.headers.get("etag")).toBe('"1"');
    const conditional = await call("PUT", "/db/password", { value: "x" }, { ...(await owner()), "If-None-Match": "*" });
    expect([conditional.status, conditional.body.code]).toEqual([412, "version_conflict"]);
    expect((await call("DELETE", "/db/password")).body).toEqual({ status: "deleted", path: "db/password" });
    const gone = await call("GET", "/db/password");
    expect([gone.status, gone.body.code, gone.body.path]).toEqual([404, "secret_not_found", "db/password"]);
    expect((await call("DELETE", "/db/password")).status).toBe(404);
    expect(node.output).not.toContain(value);
  });

  test("fields and base64 come back as they were written", async () => {
    const data = { user: "app", password: "p" };
    await call("POST", "/fields", { data });
    expect((await call("GET", "/fields")).body).toMatchObject({
      value: '{"user":"app","password":"p"}',
      encoding: "plaintext",
      data,
      fields: ["user", "password"],
    });
    await call("PUT", "/binary", { value: "-_-_", encoding: "base64" });
    expect((await call("GET", "/binary")).body).toMatchObject({ value: "-_-_", encoding: "base64", data: null });
    expect((await call("GET", "?path_prefix=binary")).body.items[0].size_bytes).toBe(3);
  });

  test("If-Match writes over that version only", async () => {
    await call("PUT", "/matched", { value: "1" });
    const put = async (version: string) =>
      (await call("PUT", "/matched", { value: "2" }, { ...(await owner()), "If-Match": version })).status;
    expect([await put('"2"'), await put('"1"'), await put('"1"'), await put("2"), await put("soon")]).toEqual([
      412, 200, 412, 200, 412,
    ]);
  });

  test("a POST repeated under its key writes once, and no digest of the value is stored", async () => {
    const post = async (value: string) =>
      call("POST", "/repeated", { value }, { ...(await owner()), "Idempotency-Key": "once" });
    const [first, again] = [await post("guess-me"), await post("guess-me")];
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.body.version).toBe(1);
    expect([(await post("another")).status, (await post("another")).body.code]).toEqual([
      422,
      "idempotency_key_reused",
    ]);
    const digest = new Bun.CryptoHasher("sha256")
      .update("/v1/secrets/repeated\n")
      .update(JSON.stringify({ value: "guess-me" }))
      .digest("base64url");
    expect(JSON.stringify(await stores.sql`select * from idempotency_keys`)).not.toContain(digest);
  });

  test("pages of a list lead through all of it", async () => {
    const headers = await owner("pages");
    for (const path of ["/a", "/b", "/c"]) await call("PUT", path, { value: "x" }, headers);
    const first = (await call("GET", "?limit=2", undefined, headers)).body;
    const second = (await call("GET", `?limit=2&cursor=${first.next_cursor}`, undefined, headers)).body;
    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(second.next_cursor).toBeNull();
  });
});

test("reading, writing and deleting are on record, with actor, request id and no value", async () => {
  const headers = await owner("logged");
  await call("PUT", "/on/record", { value: "unseen-value-1" }, headers);
  const { headers: answered } = await call("GET", "/on/record", undefined, headers);
  await call("DELETE", "/on/record", undefined, headers);
  const { body } = await node.call("GET", "/v1/audit?action=secret.", undefined, headers);
  expect(body.items.map(({ action, details }: { action: string; details: unknown }) => [action, details])).toEqual([
    ["secret.deleted", { version: 1 }],
    ["secret.read", { version: 1 }],
    ["secret.written", { version: 1 }],
  ]);
  expect(body.items[1]).toMatchObject({
    actor: { kind: "tenant_user", user_id: expect.any(String) },
    target: { type: "secret", id: "on/record" },
    request_id: answered.get("x-request-id"),
  });
  expect(JSON.stringify(body)).not.toContain("unseen-value-1");
  const routes = Object.entries((await node.call("GET", "/openapi.json")).body.paths as Record<string, object>);
  const ofAudit = routes.filter(([path]) => path.includes("/audit")).flatMap(([, methods]) => Object.keys(methods));
  expect(ofAudit.filter((method) => !["get", "head", "parameters"].includes(method))).toEqual([]);
});

test("a value that cannot be put on record does not leave", async () => {
  await call("PUT", "/unrecorded", { value: "stays-inside" });
  await stores.sql`alter table audit_entries rename to away`;
  const [read, write] = [await call("GET", "/unrecorded"), await call("PUT", "/unrecorded", { value: "new" })];
  await stores.sql`alter table away rename to audit_entries`;
  expect([read.status >= 500, write.status >= 500]).toEqual([true, true]);
  expect(JSON.stringify(read.body)).not.toContain("stays-inside");
  expect((await call("GET", "/unrecorded")).body).toMatchObject({ value: "stays-inside", version: 1 });
});

test("consumers and members get 403; a foreign secret is 404 like an unknown one", async () => {
  await call("PUT", "/mine", { value: "x" });
  const consumer = await bearer({ username: "cleo" }, "svc-consumer");
  const member = await bearer({ username: "mia", role: "tenant:member" }, "tenant-acme");
  const [stranger, system] = [await owner("other"), await bearer({}, "svc-system")];
  const tries = [
    ["GET", ""],
    ["GET", "/mine"],
    ["PUT", "/mine", { value: "y" }],
    ["POST", "/mine", { value: "y" }],
    ["DELETE", "/mine"],
  ] as const;
  for (const [method, path, body] of tries) {
    for (const headers of [consumer, member]) {
      const answer = await call(method, path, body, headers);
      expect([method, answer.status, answer.body.code]).toEqual([method, 403, "insufficient_scope"]);
    }
  }
  for (const headers of [stranger, system]) {
    for (const method of ["GET", "DELETE"]) {
      const [foreign, unknown] = [
        await call(method, "/mine", undefined, headers),
        await call(method, "/none", undefined, headers),
      ];
      expect([foreign.status, unknown.status]).toEqual([404, 404]);
      const told = ({ body }: typeof foreign) => ({ ...body, request_id: null, path: null });
      expect(told(foreign)).toEqual(told(unknown));
    }
  }
  expect((await call("GET", "/mine")).body.value).toBe("x");
});

describe("paths that are refused", () => {
  const raw = async (method: string, target: string) => {
    const { Authorization } = await owner();
    const body = method === "PUT" ? '{"value":"x"}' : "";
    const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${Authorization}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    return parseAnswer(await rawRequest(node.port, [head + body]));
  };
  const bad = [
    "db%2Fpassword",
    "a/../b",
    "..",
    "a/%2e%2e/b",
    "a/",
    "a//b",
    "a%20b",
    "a%00b",
    "%zz",
    "%E4",
    "a%252e",
    "%C3%A4",
    "x".repeat(129),
    `${"x/".repeat(256)}x`,
  ];
  test.each(bad)("%s", async (path) => {
    for (const method of ["GET", "PUT", "DELETE"]) {
      const { status, body } = await raw(method, `/v1/secrets/${path}`);
      expect([method, status, body.code]).toEqual([method, 422, "invalid_path"]);
    }
  });

  test("a prefix that is no path", async () => {
    for (const prefix of ["a/../b", "a%20b", "a//b"]) {
      expect((await call("GET", `?path_prefix=${prefix}`)).body.code).toBe("invalid_path");
    }
  });
});

test.each([
  [{}, 422],
  [{ value: "x", data: { a: "b" } }, 422],
  [{ value: 7 }, 422],
  [{ value: "x", encoding: "rot13" }, 422],
  [{ value: "not base64!", encoding: "base64" }, 422],
  [{ value: "ab+_", encoding: "base64" }, 422],
  [{ value: "AAA==", encoding: "base64" }, 422],
  [{ value: "AB", encoding: "base64" }, 422],
  [{ data: { a: 7 } }, 422],
  [{ data: { "": "x" } }, 422],
  [{ data: { "a#b": "x" } }, 422],
  [{ data: { a: "b" }, encoding: "base64" }, 422],
  [{ value: "\ud800" }, 422],
  [{ value: "x".repeat(256 * 1024 + 1) }, 422],
  [{ value: "x".repeat(1024 * 1024) }, 413],
])("%# is no secret", async (body, status) => {
  expect((await call("PUT", "/never", body)).status).toBe(status);
});
