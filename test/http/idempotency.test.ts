/** `Idempotency-Key`: once per key, whatever is repeated, in parallel, or dies half-way. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Problem } from "../../actors/kernel/problem.ts";
import { reply } from "../../src/http/answer.ts";
import { IdempotencyHeaders, idempotent, sweepIdempotencyKeys } from "../../src/http/idempotency.ts";
import { defineRoute, jsonBody, type Route } from "../../src/http/route.ts";
import type { Authenticator } from "../../src/identity/authenticate.ts";
import { identityOf } from "../harness/callers.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";
import { type OpenApp, openApp } from "./open-app.ts";

let stores: TestStores;
let app: OpenApp;
/** Work ids in the order in which work was done. */
let done: string[] = [];
let next: () => Promise<unknown> = async () => {};

let identity = identityOf("acme");

const authenticator: Authenticator = {
  identify: async () => identity,
  resolveTenant: async (_, { headers }) => ({
    slug: headers.get("x-tenant-id") ?? "acme",
    identity,
    isEntered: false,
    create: null,
  }),
};
const start = (path: string): Route =>
  defineRoute({
    method: "POST",
    path,
    summary: "Starts work",
    body: jsonBody(Type.Object({ n: Type.Integer() })),
    headers: IdempotencyHeaders,
    responses: { 202: Type.Unknown() },
    refusals: ["agent_not_found"],
    handler: (call) =>
      idempotent(
        call,
        stores.sql,
        async (workId) => {
          done.push(workId);
          await next();
          return reply(202, { id: workId, n: call.body.n, text: "a\0b" }, { Location: `/work/${workId}` });
        },
        Bun.randomUUIDv7,
      ),
  });

beforeAll(async () => {
  stores = await freshStores();
  app = openApp({ routes: [start("/v1/work"), start("/v1/things/:id/work")], authenticator });
});
afterAll(async () => {
  await app?.stop();
  await stores?.dispose();
});

interface Asking {
  readonly key?: string;
  readonly body?: string;
  readonly path?: string;
  readonly tenant?: string;
}
async function post({ key, body = '{"n":1}', path = "/v1/work", tenant = "acme" }: Asking) {
  const headers = {
    "content-type": "application/json",
    "x-tenant-id": tenant,
    ...(key === undefined ? {} : { "idempotency-key": key }),
  };
  const response = await fetch(app.url + path, { method: "POST", headers, body });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    replay: response.headers.get("idempotent-replay"),
    location: response.headers.get("location"),
  };
}
const fresh = () => {
  done = [];
  next = async () => {};
  identity = identityOf("acme");
  return crypto.randomUUID();
};

test("the same request again gets the first answer again", async () => {
  const key = fresh();
  const first = await post({ key });
  const second = await post({ key });
  expect(second).toEqual({ ...first, replay: "true" });
  expect([first.status, first.replay, first.location]).toEqual([202, null, `/work/${done[0]}`]);
  expect(done.length).toBe(1);
});

test("without a key every request works", async () => {
  fresh();
  await post({});
  await post({});
  expect(new Set(done).size).toBe(2);
});

test("another body, query or path is refused; another tenant or route is another key", async () => {
  const key = fresh();
  await post({ key });
  for (const other of [{ body: '{"n":2}' }, { path: "/v1/work?x=1" }]) {
    const answer = await post({ key, ...other });
    expect([answer.status, answer.body.code]).toEqual([422, "idempotency_key_reused"]);
  }
  expect(done.length).toBe(1);
  await post({ key, tenant: "other" });
  await post({ key, path: "/v1/things/1/work" });
  expect(done.length).toBe(3);
  expect((await post({ key, path: "/v1/things/2/work" })).status).toBe(422);
});

test("two callers of a tenant with the same key and body do two pieces of work", async () => {
  const key = fresh();
  const answers = [];
  for (const who of [
    { userId: "ann" },
    { userId: "bob" },
    { realm: "tenant-acme" },
    { keyId: "k1" },
    { keyId: "k2" },
  ]) {
    identity = identityOf("acme", { userId: "ann", realm: "svc-consumer", ...who });
    const first = await post({ key });
    const again = await post({ key });
    expect([first.replay, again.replay, again.body]).toEqual([null, "true", first.body]);
    answers.push(first.body.id);
  }
  expect(new Set(answers).size).toBe(5);
});

test("what a former version began is the same piece of work, also for that version", async () => {
  const key = fresh();
  await post({ key });
  // As a former version writes and reads it: without a caller, under the route alone.
  await stores.sql`update idempotency_keys set caller = null, status = null, body = null where key = ${key}`;
  const again = await post({ key });
  expect([again.status, again.body.id, again.replay]).toEqual([202, done[0], null]);
  const rows = await stores.sql`select route, status, work_id from idempotency_keys where key = ${key}`;
  expect([...rows]).toEqual([{ route: "POST /v1/work", status: 202, work_id: done[0] }]);
});

test("a second caller's work stays the same when the first caller's key is free again", async () => {
  const key = fresh();
  await post({ key });
  identity = identityOf("acme", { userId: "bob" });
  const bob = await post({ key });
  await stores.sql`delete from idempotency_keys where key = ${key} and work_id = ${done[0] ?? ""}`;
  const again = await post({ key });
  expect([again.body.id, again.replay]).toEqual([bob.body.id, "true"]);
});

test("twenty at once do the work once", async () => {
  const key = fresh();
  // The work takes long enough for the others to come meanwhile; their order changes nothing.
  next = () => Bun.sleep(50);
  const answers = await Promise.all(Array.from({ length: 20 }, () => post({ key })));
  expect(done.length).toBe(1);
  expect(new Set(answers.map(({ body }) => body.id))).toEqual(new Set(done));
  expect(answers.filter(({ replay }) => replay === null).length).toBe(1);
});

test("the second waits for the first, and another body is refused at once meanwhile", async () => {
  const key = fresh();
  let finish = () => {};
  next = () => new Promise<void>((resolve) => (finish = resolve));
  const first = post({ key });
  await until(() => done.length === 1);
  const second = post({ key });
  expect((await post({ key, body: '{"n":3}' })).body.code).toBe("idempotency_key_reused");
  finish();
  expect((await second).body).toEqual((await first).body);
});

test("a refusal frees the key", async () => {
  const key = fresh();
  next = () => Promise.reject(new Problem("agent_not_found", "Agent not found"));
  expect((await post({ key })).status).toBe(404);
  next = async () => {};
  expect((await post({ key, body: '{"n":5}' })).status).toBe(202);
});

test("after a failure of ours the same piece of work is repeated", async () => {
  const key = fresh();
  next = () => Promise.reject(new Error("broken"));
  expect((await post({ key })).status).toBe(500);
  next = async () => {};
  expect((await post({ key, body: '{"n":5}' })).body.code).toBe("idempotency_key_reused");
  expect((await post({ key })).status).toBe(202);
  expect(done.length).toBe(2);
  expect(done[1]).toBe(done[0]!);
});

test("a process that died with the key in hand blocks it only until its hold runs out", async () => {
  const key = fresh();
  // What a crash leaves: a row that is held, and nobody who renews it.
  next = () => Promise.reject(new Error("broken"));
  await post({ key });
  await stores.sql`update idempotency_keys set holder = ${crypto.randomUUID()}, held_until = now() + interval '300 ms' where key = ${key}`;
  next = async () => {};
  const answers = await Promise.all([post({ key }), post({ key })]);
  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
  expect(done.length).toBe(2);
  expect(done[1]).toBe(done[0]!);
});

test("a key lives 24 hours", async () => {
  const key = fresh();
  await post({ key });
  await stores.sql`update idempotency_keys set created_at = now() - interval '25 hours' where key = ${key}`;
  expect((await post({ key, body: '{"n":9}' })).replay).toBeNull();
  expect(new Set(done).size).toBe(2);
  await stores.sql`update idempotency_keys set created_at = now() - interval '25 hours' where key = ${key}`;
  expect(await sweepIdempotencyKeys(stores.sql)).toBe(1);
});

test.each(["", "a b", "x".repeat(256), "é"])("the key %p is refused", async (key) => {
  fresh();
  const answer = await post({ key });
  expect([answer.status, answer.body.code, done.length]).toEqual([422, "validation_failed", 0]);
});

test("work that said it begins is told so on the repeat", async () => {
  const call = (key: string) => ({
    request: new Request("http://svc/v1/marked", { method: "POST", headers: { "Idempotency-Key": key } }),
    ...{ tenant: "acme", path: "/v1/marked", url: new URL("http://svc/v1/marked"), bytes: new Uint8Array() },
    ...{ identity, signal: new AbortController().signal },
  });
  const told: boolean[] = [];
  const attempt = (key: string, end: (begin: () => Promise<void>) => Promise<unknown>) =>
    idempotent(
      call(key),
      stores.sql,
      async (_id, _fresh, { begun, begin }) => {
        told.push(begun);
        await end(begin);
        return reply(200, { begun });
      },
      Bun.randomUUIDv7,
    ).catch(String);
  const refused = async () => {
    throw new Problem("agent_not_found", "no");
  };
  // Refused before it began: the key is free. Refused after: the work stays begun, until it has an answer.
  await attempt("marked", refused);
  await attempt("marked", (begin) => begin().then(refused));
  await attempt("marked", async () => {});
  expect(await attempt("marked", refused)).toMatchObject({ headers: { "Idempotent-Replay": "true" } });
  expect(told).toEqual([false, false, true]);
  // A request whose hold another one took over begins nothing any more.
  told.length = 0;
  const late = await attempt("taken", async (begin) => {
    await stores.sql`update idempotency_keys set holder = gen_random_uuid() where key = 'taken'`;
    await begin();
  });
  expect(late).toContain("taken the work over");
});
