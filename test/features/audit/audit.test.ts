/** The audit log: written with the change or not at all, read by those it concerns, gone with age. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { scopesOfColumn } from "../../../actors/identity/scopes.ts";
import { JsonObject } from "../../../actors/kernel/json.ts";
import { usualTerms } from "../../../actors/policy/quota.ts";
import { sealEntries } from "../../../src/features/audit/chain/sealing.ts";
import type { AuditedBy, AuditedChange } from "../../../src/features/audit/port.ts";
import { auditedBy } from "../../../src/features/audit/port.ts";
import { eraseOldEntries, startAuditRetention } from "../../../src/features/audit/retention.ts";
import { auditRoutes } from "../../../src/features/audit/routes.ts";
import { createAudit } from "../../../src/features/audit/service.ts";
import { workflowRecords } from "../../../src/features/workflows/definitions/records.ts";
import { defineRoute, jsonBody } from "../../../src/http/route.ts";
import { emptyAudit } from "../../harness/audit.ts";
import { believing, caller, identityOf } from "../../harness/callers.ts";
import { freshStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { openApp } from "../../http/open-app.ts";

const stores = await freshStores();
const { sql } = stores;
let now = Date.UTC(2031, 4, 2, 10);
const audit = createAudit({ now: () => now, newId: () => Bun.randomUUIDv7() });

/** A route that changes something, as those of other features do. */
const change = defineRoute({
  method: "POST",
  path: "/v1/things",
  summary: "Changes something",
  body: jsonBody(Type.Object({ id: Type.String(), details: JsonObject })),
  responses: { 200: Type.Unknown() },
  handler: async (call) => {
    const { id, details } = call.body;
    await sql.begin((tx) =>
      audit.append(tx, auditedBy(call), {
        tenant: call.tenant,
        action: "thing.created",
        target: { type: "thing", id },
        details,
      }),
    );
    return { ok: true };
  },
});
const app = openApp({
  routes: [...auditRoutes({ sql, audit, terms: async (tenant) => usualTerms(tenant), now: () => now }), change],
  authenticator: believing,
});
afterAll(async () => {
  await app.stop();
  await stores.dispose();
});
beforeEach(async () => {
  await emptyAudit(sql);
});

const owner = caller("acme");
const operator = caller("svc-system", { kind: "operator", role: "readonly" });

interface Listed {
  readonly items: readonly {
    readonly [member: string]: unknown;
    readonly target: { readonly type: string; readonly id: string };
  }[];
  readonly count: number;
  readonly next_cursor: string | null;
  readonly [member: string]: unknown;
}
async function get(path: string, token = owner): Promise<{ status: number; body: Listed & { code?: string } }> {
  const response = await fetch(app.url + path, { headers: { Authorization: `Bearer ${token}` } });
  return { status: response.status, body: (await response.json()) as Listed };
}
/** The targets of what is listed, in its order. */
const targets = async (path: string, token = owner): Promise<string> =>
  (await get(path, token)).body.items.map(({ target }) => target.id).join("");

const nobody: AuditedBy = {
  actor: { kind: "operator", realm: "svc-system", user_id: "u1", role: "admin", key_id: null, name: "ann@x.test" },
  ip: null,
  user_agent: null,
  request_id: null,
};
const append = (id: string, facts: Partial<AuditedChange> = {}, by: AuditedBy = nobody) =>
  sql.begin((tx) =>
    audit.append(tx, by, {
      tenant: "acme",
      action: "thing.made",
      target: { type: "thing", id },
      details: {},
      ...facts,
    }),
  );

test("an entry tells who, from where and what, and is listed in that shape", async () => {
  const token = caller("acme", { kind: "tenant_user", membership: "admin", email: "ann@x.test", userId: "u-1" });
  const response = await fetch(`${app.url}/v1/things`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "User-Agent": "curl/9",
      "X-Request-Id": "r-1",
      "X-Forwarded-For": "203.0.113.9",
      "Content-Type": "application/json",
    },
    body: JSON.stringify({ id: "0192", details: { name: "a", list: [1, null] } }),
  });
  expect(response.status).toBe(200);
  const { status, body } = await get("/v1/audit");
  expect([status, Object.keys(body).sort(), body.count, body.next_cursor]).toEqual([
    200,
    ["count", "items", "next_cursor"],
    1,
    null,
  ]);
  expect(body.items[0]).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    at: "2031-05-02T10:00:00.000Z",
    tenant_id: "acme",
    actor: { kind: "tenant_user", realm: "test", user_id: "u-1", role: "admin", key_id: null, name: "ann@x.test" },
    action: "thing.created",
    target: { type: "thing", id: "0192" },
    outcome: "allowed",
    ip: "127.0.0.1",
    user_agent: "curl/9",
    request_id: "r-1",
    details: { name: "a", list: [1, null] },
  });
});

test("an entry can be written for any texts of a change or a request", async () => {
  const hostile = "a\0b\ud800c";
  const by = auditedBy({
    identity: identityOf("acme", { userId: hostile, clientId: hostile }),
    request: new Request("http://x.test", { headers: { "User-Agent": `é${"x".repeat(10_000)}` } }),
    requestId: "r",
    address: null,
  });
  expect(by).toMatchObject({ ip: null, actor: { user_id: "ab\ufffdc", name: "ab\ufffdc" } });
  expect(by.user_agent).toBe(`é${"x".repeat(511)}`);
  await append(hostile, { details: { list: [hostile, { deep: hostile }] } }, by);
  expect((await get("/v1/audit")).body.items[0]).toMatchObject({
    target: { id: "ab\ufffdc" },
    details: { list: ["ab\ufffdc", { deep: "ab\ufffdc" }] },
  });
});

test("the entry comes and goes with its transaction, and the change with its entry", async () => {
  const fails = sql.begin(async (tx) => {
    const entry = { tenant: "acme", action: "a", target: { type: "t", id: "1" }, details: {} };
    await audit.append(tx, nobody, entry);
    throw new Error("changed my mind");
  });
  await expect(fails).rejects.toThrow("changed my mind");
  expect((await get("/v1/audit")).body.items).toEqual([]);
  await sql`create table changed (id int)`;
  await sql`alter table audit_entries rename to away`;
  const unwritten = sql.begin(async (tx) => {
    await tx`insert into changed values (1)`;
    await audit.append(tx, nobody, { tenant: "acme", action: "a", target: { type: "t", id: "1" }, details: {} });
  });
  await expect(unwritten).rejects.toThrow("audit_entries");
  await sql`alter table away rename to audit_entries`;
  expect(await sql`select * from changed`).toHaveLength(0);
});

test("what no transaction makes is on record before it is done, and as failed", async () => {
  const change = { tenant: "acme", action: "secret.written", target: { type: "secret", id: "db" }, details: {} };
  await audit.record(sql, nobody, change);
  await audit.record(sql, nobody, change, "failed");
  expect((await get("/v1/audit")).body.items.map(({ outcome }) => outcome)).toEqual(["failed", "allowed"]);
  await sql`alter table audit_entries rename to away`;
  await expect(audit.record(sql, nobody, change)).rejects.toThrow("audit_entries");
  await sql`alter table away rename to audit_entries`;
});

test("of each tenant, action and occasion it is told once, from any node", async () => {
  const used = { tenant: "acme", action: "secret.used", target: { type: "secret", id: "1" }, details: {} };
  const other = createAudit({ now: () => now + 1, newId: () => Bun.randomUUIDv7() });
  const tell = (by: typeof audit, occasion: string, change: AuditedChange) =>
    sql.begin((tx) => by.once(tx, occasion, nobody, change));
  await Promise.all(Array.from({ length: 8 }, (_, at) => tell(at % 2 === 0 ? audit : other, "run-1 db", used)));
  await Promise.all(["run-1 db", "run-1 db"].map((occasion) => audit.once(sql, occasion, nobody, used)));
  await tell(audit, "run-2 db", { ...used, target: { type: "secret", id: "2" } });
  await tell(audit, "run-1 db", { ...used, tenant: "other", target: { type: "secret", id: "3" } });
  await tell(audit, "run-1 db", { ...used, action: "credential.used", target: { type: "secret", id: "4" } });
  expect((await targets("/v1/admin/audit", operator)).split("").sort().join("")).toBe("1234");
});

describe("lists", () => {
  beforeEach(async () => {
    const other = { ...nobody, actor: { ...nobody.actor, user_id: "u2", key_id: "k2", name: null } };
    now = Date.UTC(2031, 4, 2, 10);
    await append("1", { action: "route.created", target: { type: "route", id: "1" } });
    now += 1_000;
    await append("2", { action: "route.deleted" }, other);
    // Two within a millisecond.
    await append("3", { action: "router.set" });
    now += 1_000;
    await append("4", { tenant: "other", action: "route.created" });
    const change = { tenant: "acme", action: "secret.read", target: { type: "thing", id: "5" }, details: {} };
    await audit.record(sql, nobody, change, "denied");
  });

  test("of the own tenant, newest first; of all for operators", async () => {
    expect(await targets("/v1/audit")).toBe("5321");
    expect(await targets("/v1/audit?tenant_id=other")).toBe("5321");
    expect(await targets("/v1/audit", caller("other"))).toBe("4");
    expect(await targets("/v1/audit", caller("nobody"))).toBe("");
    expect(await targets("/v1/admin/audit", operator)).toBe("54321");
    expect(await targets("/v1/admin/audit?tenant_id=other", operator)).toBe("4");
    expect(await targets("/v1/admin/audit?tenant_id=nobody", operator)).toBe("");
  });

  test.each([
    ["actor=u1", "531"],
    ["actor=u2", "2"],
    ["actor=k2", "2"],
    ["actor=ann%40x.test", "531"],
    ["actor=u", ""],
    ["actor=", ""],
    ["action=route.", "21"],
    ["action=route", "321"],
    ["action=route.created", "1"],
    ["action=%25", ""],
    ["action=", "5321"],
    ["target_type=route", "1"],
    ["target_id=3", "3"],
    ["outcome=denied", "5"],
    ["outcome=failed", ""],
    ["since=2031-05-02T10:00:01.000Z", "532"],
    ["until=2031-05-02T10:00:01.000Z", "321"],
    ["since=2031-05-02T10:00:01Z&until=2031-05-02T10:00:01Z&action=route", "32"],
    ["since=9999-01-01&target_id='%20or%20true--", ""],
    ["limit=2", "53"],
    ["limit=2&offset=1", "32"],
    ["offset=3", "1"],
    [`cursor=${Buffer.from('["x","y"]').toString("base64url")}`, ""],
    [`cursor=${Buffer.from('["1","0192f0a0-0000-7000-8000-000000000000"]').toString("base64url")}`, ""],
  ])("?%s lists %p", async (query, expected) => {
    expect(await targets(`/v1/audit?${query}`)).toBe(expected);
  });

  test("page by page nothing is skipped or told twice, although more is written", async () => {
    let seen = "";
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await get(`/v1/audit?limit=1&action=r${cursor && `&cursor=${cursor}`}`);
      seen += body.items.map(({ target }) => target.id).join("");
      cursor = body.next_cursor;
      await append("9", { action: "router.set" });
    }
    expect(seen).toBe("321");
    const all = await get("/v1/audit?limit=500");
    expect([all.body.count, all.body.next_cursor]).toEqual([7, null]);
  });

  test.each([
    "limit=0",
    "limit=501",
    "limit=x",
    "outcome=perhaps",
    "since=yesterday",
    "until=99999-01-01",
    "cursor=nonsense",
    `cursor=${Buffer.from('["1"]').toString("base64url")}`,
    "actor=%00",
    `action=${"a".repeat(101)}`,
  ])("?%s is 422", async (query) => {
    const { status, body } = await get(`/v1/audit?${query}`);
    expect([status, body.code]).toEqual([422, "validation_failed"]);
  });
});

test("who may read", async () => {
  const member = { kind: "tenant_user", membership: "member", scopes: scopesOfColumn("M") } as const;
  const consumer = { kind: "consumer", scopes: scopesOfColumn("C") } as const;
  const machine = { kind: "service_account", role: "operator" } as const;
  const cases: readonly (readonly [string, Parameters<typeof caller>[1], string])[] = [
    ["/v1/audit", consumer, "200"],
    ["/v1/audit", member, "403 insufficient_scope"],
    ["/v1/audit", { scopes: scopesOfColumn("S") }, "403 insufficient_scope"],
    ["/v1/admin/audit", consumer, "403 operator_required"],
    ["/v1/admin/audit?limit=x", consumer, "403 operator_required"],
    ["/v1/admin/audit", member, "403 operator_required"],
    ["/v1/admin/audit", { kind: "tenant_user", membership: "owner" }, "403 operator_required"],
    ["/v1/admin/audit", {}, "403 operator_required"],
    ["/v1/admin/audit", machine, "200"],
    ["/v1/admin/audit", { ...machine, role: "admin" }, "200"],
    ["/v1/admin/audit", { ...machine, role: "readonly" }, "200"],
    ["/v1/admin/audit", { kind: "operator", role: "operator" }, "200"],
    ["/v1/admin/audit", { kind: "operator", role: "admin", scopes: new Set() }, "403 insufficient_scope"],
  ];
  for (const [path, facts, expected] of cases) {
    const { status, body } = await get(path, caller("acme", facts));
    expect([path, facts, [status, ...(body.code === undefined ? [] : [body.code])].join(" ")]).toEqual([
      path,
      facts,
      expected,
    ]);
  }
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const headers = { Authorization: `Bearer ${operator}` };
    expect((await fetch(`${app.url}/v1/audit`, { method, headers })).status).toBe(405);
  }
});

test("entries go by age, many at once, whichever nodes sweep", async () => {
  const day = 86_400_000;
  now = Date.UTC(2031, 4, 2);
  await append("young");
  await sql`
    insert into audit_entries
    select gen_random_uuid(), ${new Date(now - day)}, 'acme', '{}', 'a', 't', 'old', 'allowed', null, null, null, '{}'
    from generate_series(1, 4500)`;
  await sealEntries({ sql, now: () => now });
  const options = { sql, retentionDays: 400, now: () => now + 399 * day + 1 };
  const erased = await Promise.all([eraseOldEntries(options), eraseOldEntries(options)]);
  expect(erased[0] + erased[1]).toBe(4500);
  expect(await targets("/v1/audit")).toBe("young");
});

test("what other features keep as long as the log is erased in portions", async () => {
  const day = 86_400_000;
  const asked: [moment: number, limit: number][] = [];
  let left = 4500;
  const changes = workflowRecords(sql).eraseChanges;
  await sql`
    insert into workflow_changes
    select gen_random_uuid(), ${new Date(now - 401 * day)}, 'acme', 't', gen_random_uuid(), 'n', '1', 'k', 's', null, '{}'
    from generate_series(1, 3)`;
  await sql`
    insert into workflow_changes values
      (gen_random_uuid(), ${new Date(now)}, 'acme', 't', gen_random_uuid(), 'young', '1', 'k', 's', null, '{}')`;
  const count = async (before: Date, limit: number) => {
    asked.push([before.getTime(), limit]);
    const erased = Math.min(limit, left);
    left -= erased;
    return erased;
  };
  const reported: unknown[] = [];
  const report = (...said: unknown[]) => void reported.push(said);
  const stop = startAuditRetention({ sql, retentionDays: 400, now: () => now, report, others: [count, changes] });
  await until(() => reported.length > 0, { what: "the first round" });
  await stop();
  expect(asked).toEqual(Array.from({ length: 3 }, () => [now - 400 * day, 2000]));
  expect(reported.at(-1)).toEqual(["old_histories_erased", { count: 4503 }]);
  expect((await sql`select name from workflow_changes`).map(({ name }) => name)).toEqual(["young"]);
});
