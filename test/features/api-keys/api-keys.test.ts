/** API keys of whole nodes (docs/reference/identity.md, API keys). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../harness/until.ts";
import { bearer, type Headers, KeysFixture, told } from "./fixture.ts";

let at: KeysFixture;
let ann: Headers;
let bob: Headers;
beforeAll(async () => {
  at = await KeysFixture.open();
  // The first user of the tenant owns it.
  ann = await at.user("acme", "ann");
  await at.node.call("GET", "/v1/agents", undefined, ann);
  bob = await at.user("acme", "bob", { role: "tenant:member" });
  await at.node.call("GET", "/v1/agents", undefined, bob);
});
afterAll(() => at?.close());

const call = (method: string, path: string, headers: Headers, body?: unknown) =>
  at.node.call(method, path, body, headers);

test("the value is told once, under three names, and is in no list, log or table", async () => {
  const { status, body } = await call("POST", "/v1/api-keys", bob, { name: "nightly" });
  expect([status, body.api_key === body.key && body.key === body.key_value]).toEqual([201, true]);
  const value: string = body.api_key;
  expect(value).toMatch(/^svc_[0-9A-Za-z]{40}$/);
  expect([body.prefix, body.last4, body.status, body.parent_key_id]).toEqual([
    value.slice(0, 8),
    value.slice(-4),
    "active",
    null,
  ]);
  const list = (await call("GET", "/v1/api-keys", bob)).body;
  expect(list.api_keys).toEqual(list.items);
  expect(list.keys).toEqual(list.items);
  expect(list.count).toBe(list.items.length);
  const one = (await call("GET", `/v1/api-keys/${body.id}`, bob)).body;
  expect(one).toMatchObject({ id: body.id, name: "nightly", owner_user_id: expect.any(String) });
  await call("GET", `/v1/agents?note=${value}`, bearer(value));
  const rows = await at.stores.sql`select row_to_json(k)::text as row from api_keys k where id = ${body.id}`;
  for (const text of [JSON.stringify(list), JSON.stringify(one), at.node.output, JSON.stringify(rows)])
    expect(text.includes(value)).toBe(false);
});

test("a key works on agents, executions and workflows, and never exceeds its owner", async () => {
  const { headers } = await at.key(bob, { scopes: ["*"] });
  const agent = await at.agent(headers);
  for (const path of ["/v1/agents", "/v1/executions", "/v1/workflows", `/v1/agents/${agent}`])
    expect([path, (await call("GET", path, headers)).status]).toEqual([path, 200]);
  // What its owner may not: the column of members.
  expect(told(await call("PUT", "/v1/stimulus-routes/router", headers, {}))).toEqual([403, "insufficient_scope"]);
  const narrow = await at.key(bob, { scopes: ["agent:list"] });
  expect((await call("GET", "/v1/agents", narrow.headers)).status).toBe(200);
  const refused = await call("POST", `/v1/agents/${agent}/execute`, narrow.headers, { input: "" });
  expect([...told(refused), refused.body.required]).toEqual([403, "insufficient_scope", "agent:execute"]);
});

test.each<[string, unknown, number, string]>([
  ["an unknown word", ["agent:read", "agent:fly"], 422, "unknown_scope"],
  ["an unknown wildcard", ["rocket:*"], 422, "unknown_scope"],
  ["more than the creator holds", ["secret:read"], 403, "scope_not_grantable"],
  ["a platform scope", ["tenant:list"], 403, "scope_not_grantable"],
  ["no list", "agent:read", 422, "validation_failed"],
])("a key with %s is not made", async (_, scopes, status, code) => {
  expect(told(await call("POST", "/v1/api-keys", bob, { name: "k", scopes }))).toEqual([status, code]);
});

test("read has no secret:read, write the rest, null all of the tenant, [] nothing", async () => {
  const scopesOf = async (scopes: unknown, headers: Headers) =>
    new Set((await call("POST", "/v1/api-keys", headers, { name: "k", scopes })).body.scopes as string[]);
  const read = await scopesOf(["read"], ann);
  expect([read.has("agent:list"), read.has("execution:stream"), read.has("secret:read")]).toEqual([true, true, false]);
  const write = await scopesOf(["write"], ann);
  expect([write.has("agent:deploy"), write.has("secret:read"), write.has("agent:list")]).toEqual([true, true, false]);
  const all = await scopesOf(null, ann);
  expect(all).toEqual(read.union(write));
  expect(await scopesOf([], ann)).toEqual(new Set());
  expect(await scopesOf(["secret:*", "agent:list"], bob)).toEqual(new Set(["agent:list"]));
  const admin = await at.operator("admin");
  const platform = await scopesOf(null, admin);
  expect([platform.has("agent:list"), platform.has("tenant:list")]).toEqual([true, false]);
  expect(await scopesOf(["tenant:*"], admin)).toEqual(
    new Set(["tenant:list", "tenant:onboard", "tenant:provision", "tenant:read"]),
  );
});

test("after revocation a key fails on every node within 5 s, and so does validating it", async () => {
  const { id, headers } = await at.key(bob);
  const validate = (node: typeof at.node) => node.call("POST", "/v1/api-keys/validate", undefined, headers);
  for (const node of [at.node, at.other]) {
    const { status, body } = await validate(node);
    expect([status, body.key_id, body.tenant_id, body.kind]).toEqual([200, id, "acme", "tenant_user"]);
    expect([body.tier, body.zaru_tier, body.role, body.aegis_role]).toEqual(["enterprise", "enterprise", null, null]);
  }
  expect(told(await call("POST", "/v1/api-keys/validate", bob))).toEqual([401, "invalid_api_key"]);
  const revoked = await call("DELETE", `/v1/api-keys/${id}`, bob);
  expect(revoked).toMatchObject({ status: 200, body: { status: "revoked", id, message: expect.any(String) } });
  expect(told(await validate(at.node))).toEqual([401, "invalid_api_key"]);
  await until(async () => (await validate(at.other)).status === 401, { timeoutMs: 5_000, what: "the other node" });
  expect(told(await call("DELETE", `/v1/api-keys/${id}`, bob))).toEqual([404, "api_key_not_found"]);
  expect(
    (await call("GET", "/v1/api-keys?status=revoked", bob)).body.items.map((key: { id: string }) => key.id),
  ).toContain(id);
});

test("after a rotation both values work for the grace, then the new one", async () => {
  const { id, headers: former } = await at.key(bob);
  const rotate = (body?: object) => call("POST", `/v1/api-keys/${id}/rotate`, bob, body);
  const rotated = await rotate({ grace_seconds: 60 });
  expect([rotated.status, rotated.body.id, rotated.body.key]).toEqual([200, id, rotated.body.api_key]);
  expect(Date.parse(rotated.body.previous_expires_at)).toBeGreaterThan(Date.now());
  const now = bearer(rotated.body.api_key);
  const works = async (headers: Headers) => (await call("GET", "/v1/agents", headers)).status === 200;
  expect([await works(former), await works(now)]).toEqual([true, true]);
  await at.stores.sql`update api_keys set previous_expires_at = now() where id = ${id}`;
  await until(async () => !(await works(former)), { timeoutMs: 10_000 });
  expect(await works(now)).toBe(true);
  // Without a grace the former value opens nothing any more.
  const last = bearer((await rotate()).body.api_key);
  expect([await works(now), await works(last)]).toEqual([false, true]);
  const again = bearer((await rotate({ grace_seconds: 60 })).body.api_key);
  await call("DELETE", `/v1/api-keys/${id}`, bob);
  expect([await works(last), await works(again)]).toEqual([false, false]);
  expect(told(await rotate())).toEqual([404, "api_key_not_found"]);
  expect(told(await call("POST", `/v1/api-keys/${id}/rotate`, bob, { grace_seconds: 86_401 }))).toEqual([
    422,
    "validation_failed",
  ]);
});

test("a narrow key takes no wider one's place by rotating it, and makes none wider", async () => {
  const wide = await at.key(bob);
  const narrow = await at.key(bob, { scopes: ["key:create", "key:list", "agent:list"] });
  expect(told(await call("POST", `/v1/api-keys/${wide.id}/rotate`, narrow.headers))).toEqual([
    404,
    "api_key_not_found",
  ]);
  const child = { name: "child", scopes: ["agent:deploy"] };
  expect(told(await call("POST", "/v1/api-keys", narrow.headers, child))).toEqual([403, "scope_not_grantable"]);
  const made = await call("POST", "/v1/api-keys", narrow.headers, { name: "child" });
  expect(made.body).toMatchObject({ parent_key_id: narrow.id, scopes: ["agent:list", "key:create", "key:list"] });
  expect((await call("POST", `/v1/api-keys/${made.body.id}/rotate`, narrow.headers)).status).toBe(200);
  expect((await call("POST", `/v1/api-keys/${narrow.id}/rotate`, narrow.headers)).status).toBe(200);
});

test("a child ends with its parent and outlives it in no way", async () => {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const parent = await at.key(bob, { expires_at: until });
  const later = { name: "child", expires_at: new Date(Date.now() + 7_200_000).toISOString() };
  expect(told(await call("POST", "/v1/api-keys", parent.headers, later))).toEqual([422, "validation_failed"]);
  const child = await call("POST", "/v1/api-keys", parent.headers, { name: "child" });
  expect(child.body.expires_at).toBe(until);
  const grandchild = await at.key(bearer(child.body.api_key));
  await call("DELETE", `/v1/api-keys/${parent.id}`, bob);
  for (const headers of [bearer(child.body.api_key), grandchild.headers])
    expect(told(await call("GET", "/v1/agents", headers))).toEqual([401, "invalid_api_key"]);
});

test("what is made with a key while it is being ended ends with it", async () => {
  const parent = await at.key(bob);
  const make = () => call("POST", "/v1/api-keys", parent.headers, { name: "child" });
  const before = Array.from({ length: 10 }, make);
  const ending = call("DELETE", `/v1/api-keys/${parent.id}`, bob);
  const answers = await Promise.all([...before, ...Array.from({ length: 10 }, make)]);
  expect((await ending).status).toBe(200);
  const known = new Set(answers.map(({ status }) => status));
  expect(known.isSubsetOf(new Set([201, 401]))).toBe(true);
  const [row] = await at.stores.sql`
    select count(*)::int as live from api_keys where parent_id = ${parent.id} and revoked_at is null`;
  expect(row?.live).toBe(0);
});

test("keys of the platform expire: 90 days by default, 366 are refused", async () => {
  const admin = await at.operator("admin");
  const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString();
  for (const headers of [admin, bearer(await at.node.token())]) {
    const { body } = await call("POST", "/v1/api-keys", headers, { name: "k" });
    expect(Math.round((Date.parse(body.expires_at) - Date.now()) / 86_400_000)).toBe(90);
    const make = (expires_at: string) => call("POST", "/v1/api-keys", headers, { name: "k", expires_at });
    expect((await make(days(364))).status).toBe(201);
    expect(told(await make(days(366)))).toEqual([422, "validation_failed"]);
  }
  expect((await call("POST", "/v1/api-keys", bob, { name: "k" })).body.expires_at).toBe(null);
  for (const expires_at of [days(-1), "tomorrow", "+99999-01-01T00:00:00Z"])
    expect(told(await call("POST", "/v1/api-keys", bob, { name: "k", expires_at }))).toEqual([
      422,
      "validation_failed",
    ]);
});

test("no key is made under X-Svc-Tenant, and a key acts in its own tenant alone", async () => {
  const admin = await at.operator("admin");
  const entered = { ...admin, "X-Svc-Tenant": "acme" };
  expect(told(await call("POST", "/v1/api-keys", entered, { name: "k" }))).toEqual([403, "operator_required"]);
  const tenantOf = async (headers: Headers) => (await call("POST", "/v1/api-keys/validate", headers)).body.tenant_id;
  const operators = await at.key(admin);
  expect(await tenantOf({ ...operators.headers, "X-Svc-Tenant": "acme" })).toBe("svc-system");
  const machine = bearer(await at.node.token());
  const home = await at.key(machine);
  expect(await tenantOf({ ...home.headers, "X-Tenant-Id": "acme" })).toBe("acme");
  const sent = await at.key({ ...machine, "X-Tenant-Id": "acme" });
  expect(await tenantOf({ ...sent.headers, "X-Tenant-Id": "svc-system" })).toBe("acme");
  const consumers = await at.key(await at.consumer("carl"));
  expect(await tenantOf({ ...consumers.headers, "X-Svc-Team": crypto.randomUUID(), "X-Tenant-Id": "acme" })).toBe(
    "u-carl",
  );
});

test("owner and admins see and end every key of the tenant; others their own alone", async () => {
  const bobs = await at.key(bob);
  const anns = await at.key(ann);
  const ids = async (headers: Headers) =>
    (await call("GET", "/v1/api-keys?all=true", headers)).body.items.map(({ id }: { id: string }) => id);
  expect(await ids(ann)).toEqual(expect.arrayContaining([bobs.id, anns.id]));
  expect(told(await call("GET", "/v1/api-keys?all=true", bob))).toEqual([403, "owner_only"]);
  for (const [method, path] of [
    ["GET", `/v1/api-keys/${anns.id}`],
    ["DELETE", `/v1/api-keys/${anns.id}`],
    ["POST", `/v1/api-keys/${anns.id}/rotate`],
  ] as const)
    expect(told(await call(method, path, bob))).toEqual([404, "api_key_not_found"]);
  // Nor does an admin get another's value by rotating it.
  expect(told(await call("POST", `/v1/api-keys/${bobs.id}/rotate`, ann))).toEqual([404, "api_key_not_found"]);
  const eve = await at.user("other", "eve");
  const strange = await call("DELETE", `/v1/api-keys/${bobs.id}`, eve);
  const unknown = await call("DELETE", `/v1/api-keys/${crypto.randomUUID()}`, eve);
  expect([told(strange), strange.body.error]).toEqual([[404, "api_key_not_found"], unknown.body.error]);
  expect((await call("DELETE", `/v1/api-keys/${bobs.id}`, ann)).status).toBe(200);
  expect(told(await call("GET", "/v1/agents", bobs.headers))).toEqual([401, "invalid_api_key"]);
});

test("of one Idempotency-Key two members get two keys, and each a repeat of their own", async () => {
  const make = (headers: Headers) =>
    call("POST", "/v1/api-keys", { ...headers, "Idempotency-Key": "same" }, { name: "k" });
  const [anns, bobs] = await Promise.all([make(ann), make(bob)]);
  expect(anns.body.id === bobs.body.id || anns.body.key === bobs.body.key).toBe(false);
  const again = await make(ann);
  expect([again.headers.get("idempotent-replay"), again.body.key]).toEqual(["true", anns.body.key]);
  const rows = await at.stores.sql`select row_to_json(k)::text as row from idempotency_keys k`;
  expect(rows.length).toBeGreaterThan(1);
  expect(JSON.stringify(rows).includes(anns.body.key.slice(4))).toBe(false);
  const rotate = () => call("POST", `/v1/api-keys/${anns.body.id}/rotate`, { ...ann, "Idempotency-Key": "turn" });
  const [first, second] = [await rotate(), await rotate()];
  expect(second.body.key).toBe(first.body.key);
});

test("a suspended tenant's keys are listed and ended, and nothing is made", async () => {
  const owner = await at.user("halted", "ann");
  const { id, headers } = await at.key(owner);
  await at.stores.sql`update tenants set status = 'suspended' where slug = 'halted'`;
  await until(async () => (await call("GET", "/v1/agents", headers)).status === 403);
  expect(told(await call("GET", "/v1/agents", headers))).toEqual([403, "tenant_suspended"]);
  expect(told(await call("POST", "/v1/api-keys", owner, { name: "k" }))).toEqual([403, "tenant_suspended"]);
  expect((await call("GET", "/v1/api-keys", owner)).body.count).toBe(1);
  expect((await call("DELETE", `/v1/api-keys/${id}`, owner)).status).toBe(200);
});

test("a hundred keys of one person, whichever way they come at once", async () => {
  const carla = await at.consumer("carla");
  await at.key(carla);
  await at.stores.sql`
    insert into api_keys (id, tenant, realm, user_id, kind, name, scopes, hash, prefix, last4, created_at)
    select gen_random_uuid(), tenant, realm, user_id, kind, 'k', '{}', hash || n, prefix, last4, now()
    from api_keys, generate_series(1, 96) n where user_id = 'carla'`;
  const make = () => call("POST", "/v1/api-keys", carla, { name: "k" });
  const answers = await Promise.all(Array.from({ length: 8 }, make));
  expect(answers.filter(({ status }) => status === 201).length).toBe(3);
  const { status, body } = answers.find((answer) => answer.status !== 201) ?? (await make());
  expect([status, body.code, body.limit, body.used]).toEqual([402, "quota_exceeded", 100, 100]);
});

test.each([
  ["a name of 65 bytes", { name: "é".repeat(33) }],
  ["an empty name", { name: "" }],
  ["a name with NUL", { name: "a\0b" }],
  ["a name of half a surrogate pair", { name: "\ud800" }],
  ["no name", {}],
  ["too many scopes", { name: "k", scopes: Array.from({ length: 201 }, () => "agent:list") }],
])("%s makes no key", async (_, body) => {
  expect(told(await call("POST", "/v1/api-keys", bob, body))).toEqual([422, "validation_failed"]);
});

test("what is done with keys is on record, with the key it was done by", async () => {
  const parent = await at.key(ann);
  const child = await at.key(parent.headers);
  await call("POST", `/v1/api-keys/${child.id}/rotate`, parent.headers);
  await call("DELETE", `/v1/api-keys/${parent.id}`, ann);
  const { items } = (await call("GET", "/v1/audit?target_type=api_key&limit=50", ann)).body;
  const of = (id: string) =>
    items
      .filter(({ target }: { target: { id: string } }) => target.id === id)
      .map((entry: { action: string; actor: { key_id: string | null }; details: object }) => [
        entry.action,
        entry.actor.key_id,
        entry.details,
      ]);
  expect(of(child.id)).toEqual([
    ["key.rotated", parent.id, expect.anything()],
    ["key.created", parent.id, expect.objectContaining({ parent_key_id: parent.id })],
  ]);
  expect(of(parent.id)[0]).toEqual(["key.revoked", null, { with: [child.id], count: 2 }]);
});

test("ending a key, a membership or a tenant ends its streams on every node", async () => {
  const owner = await at.user("live", "ann");
  await at.node.call("GET", "/v1/agents", undefined, owner);
  const agent = await at.agent(owner);
  const member = await at.user("live", "bob", { role: "tenant:member" });
  const doomed = await at.key(owner);
  const kept = await at.key(owner);
  const turned = await at.key(owner);
  const openAll = (headers: Headers) => Promise.all([at.node, at.other].map((node) => at.stream(node, agent, headers)));
  const [byKey, byMember, byKept, byToken] = [
    await openAll(doomed.headers),
    await openAll(member),
    await openAll(kept.headers),
    await openAll(bearer(await at.node.token({ username: "ann", expires_in: "1" }, "tenant-live"))),
  ];
  // The value of a key ends with its grace: what it opened before, and what it opens until then.
  const byFormer = await openAll(turned.headers);
  const rotated = await call("POST", `/v1/api-keys/${turned.id}/rotate`, owner, { grace_seconds: 3 });
  const inGrace = await openAll(turned.headers);
  const byNew = await openAll(bearer(rotated.body.key));
  await until(() => [...byFormer, ...inGrace].every(({ ended }) => ended), {
    timeoutMs: 15_000,
    what: "the former value's",
  });
  expect(byNew.map(({ ended }) => ended)).toEqual([false, false]);
  await call("DELETE", `/v1/api-keys/${doomed.id}`, owner);
  await until(() => byKey.every(({ ended }) => ended), { timeoutMs: 10_000, what: "the key's streams to end" });
  await at.stores.sql`
    update tenant_members set status = 'revoked' where tenant = 'live' and role = 'member'`;
  await until(() => byMember.every(({ ended }) => ended), { timeoutMs: 10_000, what: "the member's streams to end" });
  // A token that has expired ends none: its streams are still there.
  expect([...byKept, ...byToken].map(({ ended }) => ended)).toEqual([false, false, false, false]);
  await at.stores.sql`update tenants set status = 'deleted' where slug = 'live'`;
  await until(() => [...byKept, ...byToken].every(({ ended }) => ended), { timeoutMs: 10_000, what: "the tenant's" });
});
