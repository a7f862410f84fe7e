/** Operators make, change and end tenants; who may name which tenant (docs/reference/tenants.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { say } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { type Fixture, openFixture } from "./fixture.ts";

let at: Fixture;
beforeAll(async () => {
  at = await openFixture();
});
afterAll(() => at?.dispose());

const agents = async (headers: Readonly<Record<string, string>>) => {
  const { status, body } = await at.node.call("GET", "/v1/agents", undefined, headers);
  expect(status).toBe(200);
  return body.items.map(({ agent_id }: { agent_id: string }) => agent_id);
};
const exists = async (slug: string) => (await at.stores.sql`select from tenants where slug = ${slug}`).count > 0;
const actions = async (tenant: string) => {
  const rows = await at.stores.sql<{ action: string }[]>`
    select action from audit_entries where tenant = ${tenant} and action like 'tenant.%' order by at, id`;
  return rows.map(({ action }) => action);
};

describe("making and reading", () => {
  test("a tenant is made with every member and read back", async () => {
    const slug = `made-${crypto.randomUUID().slice(0, 8)}`;
    const made = await at.admin("POST", "", {
      slug,
      display_name: "Made Ltd",
      tier: "business",
      quotas: { max_agents: -1 },
      owner_email: "ann@made.test",
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      slug,
      display_name: "Made Ltd",
      kind: "enterprise",
      status: "active",
      tier: "business",
      tier_source: "admin",
      quotas: { max_concurrent_executions: 25, max_agents: -1, max_storage_gb: 50 },
      idp_realm: `tenant-${slug}`,
      keycloak_realm: `tenant-${slug}`,
      vault_namespace: `tenant-${slug}/`,
      openbao_namespace: `tenant-${slug}/`,
      owner_email: "ann@made.test",
      suspended_at: null,
      deleted_at: null,
      purge_at: null,
    });
    expect((await at.admin("GET", `/${slug}`)).body).toEqual(made.body);
    expect((await at.admin("POST", "", { slug, display_name: "again" })).body.code).toBe("tenant_exists");
    expect(await actions(slug)).toEqual(["tenant.created"]);
  });

  test("no two tenants have one folder of the vault, nor one within the other's", async () => {
    const id = crypto.randomUUID().slice(0, 8);
    const make = (name: string, vault_namespace: string) =>
      at.admin("POST", "", { slug: `${name}-${id}`, display_name: name, vault_namespace });
    expect((await make("one", `shop-${id}/live/`)).status).toBe(201);
    const taken = [`shop-${id}/live`, `/shop-${id}//live/`, `shop-${id}`, `shop-${id}/live/x`, "tenant-acme/x"];
    for (const folder of taken) {
      const { status, body } = await make("two", folder);
      expect([folder, status, body.code, body.issues?.[0].path]).toEqual([
        folder,
        422,
        "validation_failed",
        "vault_namespace",
      ]);
    }
    for (const [name, folder] of [
      ["two", `shop-${id}/live-2`],
      ["own", `tenant-own-${id}`],
    ] as const)
      expect([folder, (await make(name, folder)).status]).toEqual([folder, 201]);
  });

  test.each([
    ["Bad_Slug", 422, "invalid_tenant_slug"],
    ["-x", 422, "invalid_tenant_slug"],
    ["x".repeat(64), 422, "invalid_tenant_slug"],
    ["svc-system", 422, "reserved_slug"],
    ["u-ann", 422, "reserved_slug"],
    ["t-abc", 422, "reserved_slug"],
  ])("%s is no name for a tenant: %i %s", async (slug, status, code) => {
    const answer = await at.admin("POST", "", { slug, display_name: "x" });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test.each([
    [{}],
    [{ display_name: "" }],
    [{ display_name: "x".repeat(129) }],
    [{ display_name: "x", tier: "gold" }],
    [{ display_name: "x", quotas: { max_agents: -2 } }],
    [{ display_name: "x", quotas: { max_agents: 1.5 } }],
    [{ display_name: "x", quotas: { max_agents: 2 ** 60 } }],
    [{ display_name: "x", owner_email: "nobody" }],
    [{ display_name: "a\u0000b" }],
    [{ display_name: "x", owner_email: "a\u0000@b.test" }],
    [{ display_name: "x", idp_realm: "a\u0000b" }],
  ])("%j is refused with 422", async (body) => {
    const answer = await at.admin("POST", "", { slug: "refused", ...body });
    expect([answer.status, answer.body.code]).toEqual([422, "validation_failed"]);
    expect(await exists("refused")).toBe(false);
  });

  test("the list is by slug, filtered and paged; deleted ones come only when asked for", async () => {
    const part = crypto.randomUUID().slice(0, 8);
    const slugs = ["c", "a", "b", "d"].map((letter) => `list-${part}-${letter}`);
    for (const slug of slugs) await at.admin("POST", "", { slug, display_name: slug.toUpperCase() });
    await at.admin("PATCH", `/list-${part}-b`, { tier: "pro" });
    await at.admin("POST", `/list-${part}-c/suspend`);
    await at.admin("DELETE", `/list-${part}-d`);
    const listed = async (query: string) => {
      const { status, body } = await at.admin("GET", `?q=LIST-${part}&${query}`);
      expect([status, body.count]).toEqual([200, body.items.length]);
      expect(body.tenants).toEqual(body.items);
      return { last: body.next_cursor, letters: body.items.map(({ slug }: { slug: string }) => slug.at(-1)).join("") };
    };
    expect((await listed("")).letters).toBe("abc");
    expect((await listed("status=suspended")).letters).toBe("c");
    expect((await listed("status=deleted")).letters).toBe("d");
    expect((await listed("tier=pro")).letters).toBe("b");
    expect((await listed("tier=enterprise&kind=enterprise")).letters).toBe("ac");
    expect((await listed("tier=free")).letters).toBe("");
    const first = await listed("limit=2");
    expect([first.letters, (await listed(`limit=2&cursor=${first.last}`)).letters]).toEqual(["ab", "c"]);
    const system = (await at.admin("GET", "?kind=system")).body.items;
    expect(system).toMatchObject([{ slug: "svc-system", tier: "system", quotas: { max_agents: -1 } }]);
  });

  test("an unknown tenant is 404, a malformed name 400", async () => {
    expect((await at.admin("GET", "/unheard-of")).body.code).toBe("tenant_not_found");
    expect((await at.admin("GET", "/Bad_Slug")).status).toBe(400);
    for (const act of ["suspend", "resume", "restore"])
      expect((await at.admin("POST", `/unheard-of/${act}`)).status).toBe(404);
    expect((await at.admin("DELETE", "/unheard-of")).status).toBe(404);
  });
});

test("a changed tier and quotas hold at once; null gives them back to the rest", async () => {
  const slug = await at.newTenant();
  const changed = await at.admin("PATCH", `/${slug}`, {
    display_name: "New",
    tier: "free",
    quotas: { max_agents: 1, max_storage_gb: 7 },
    owner_email: "bob@new.test",
  });
  expect(changed.body).toMatchObject({
    display_name: "New",
    tier: "free",
    tier_source: "admin",
    quotas: { max_concurrent_executions: 2, max_agents: 1, max_storage_gb: 7 },
    owner_email: "bob@new.test",
  });
  const ann = await at.member(slug);
  await at.deploy(ann);
  const second = await at.node.call("POST", "/v1/agents", { nothing: true }, ann);
  expect(second.status).toBe(422);
  const back = await at.admin("PATCH", `/${slug}`, { tier: null, quotas: { max_agents: null }, owner_email: null });
  expect(back.body).toMatchObject({
    display_name: "New",
    tier: "enterprise",
    tier_source: "default",
    quotas: { max_concurrent_executions: 50, max_agents: 500, max_storage_gb: 7 },
    owner_email: null,
  });
  expect(await actions(slug)).toEqual(["tenant.created", "tenant.updated", "tenant.updated"]);
});

test("over a quota of two the third start is 429, the sixth agent of a free tenant 402", async () => {
  const slug = await at.newTenant({ tier: "free", quotas: { max_concurrent_executions: 2 } });
  const ann = await at.member(slug);
  const slow = await at.deploy(ann, { script: [{ content: "late", delay_ms: 30_000 }] });
  expect([(await at.start(ann, slow)).status, (await at.start(ann, slow)).status]).toEqual([200, 200]);
  const third = await at.start(ann, slow);
  expect([third.status, third.headers.get("retry-after"), third.body]).toMatchObject([
    429,
    "5",
    { code: "quota_exceeded", quota: "max_concurrent_executions", limit: 2, used: 2, tier: "free" },
  ]);
  for (let count = 2; count <= 5; count++) await at.deploy(ann, { script: [say("done")] });
  await expect(at.deploy(ann, { script: [say("done")] })).rejects.toThrow(/402.*quota_exceeded.*max_agents/);
});

test("a consumer's call of any route of administrators is 403 and changes nothing", async () => {
  const slug = await at.newTenant();
  const headers = await at.consumer(crypto.randomUUID());
  const document = (await at.node.call("GET", "/openapi.json")).body;
  const before = (await at.admin("GET", `/${slug}`)).body;
  const tried: string[] = [];
  for (const [path, operations] of Object.entries<Record<string, unknown>>(document.paths)) {
    if (!path.startsWith("/v1/admin/")) continue;
    const url = path.replace("{slug}", slug).replaceAll(/\{\w+\}/g, crypto.randomUUID());
    for (const method of Object.keys(operations)) {
      const answer = await at.node.call(method.toUpperCase(), url, method === "get" ? undefined : {}, headers);
      tried.push(`${method} ${path} ${answer.status} ${answer.body.code}`);
    }
  }
  expect(tried.length).toBeGreaterThan(8);
  expect(tried.filter((one) => !one.endsWith("403 operator_required"))).toEqual([]);
  expect((await at.admin("GET", `/${slug}`)).body).toEqual(before);
});

test("operators who are no admins list tenants and are refused to suspend one", async () => {
  const slug = await at.newTenant();
  for (const role of ["readonly", "operator"] as const) {
    const headers = await at.operator(role);
    expect((await at.node.call("GET", "/v1/admin/tenants", undefined, headers)).status).toBe(200);
    const refused = await at.node.call("POST", `/v1/admin/tenants/${slug}/suspend`, {}, headers);
    expect([refused.status, refused.body.code]).toEqual([403, "operator_required"]);
  }
  expect((await at.node.call("GET", "/v1/admin/audit", undefined, {})).status).toBe(200);
});

describe("a service account names a tenant", () => {
  test("it deploys there, and without the header does not see it", async () => {
    const slug = await at.newTenant();
    const inside = await at.service(slug);
    const agent = await at.deploy(inside);
    expect(await agents(inside)).toContain(agent);
    const { "X-Tenant-Id": _, ...home } = inside;
    expect(await agents(home)).not.toContain(agent);
  });

  test("another tenant's record is unknown there, and the look makes no tenant", async () => {
    const slug = `look-${crypto.randomUUID().slice(0, 8)}`;
    const agent = await at.deploy(await at.service(await at.newTenant()));
    const answer = await at.node.call("GET", `/v1/agents/${agent}`, undefined, await at.service(slug));
    expect([answer.status, await exists(slug)]).toEqual([404, false]);
  });

  test("a malformed name is 400", async () => {
    const malformed = await at.node.call("GET", "/v1/agents", undefined, await at.service("Bad_Slug"));
    expect([malformed.status, malformed.body.code]).toEqual([400, "invalid_tenant_slug"]);
    const { sql } = at.stores;
    expect((await sql`select from tenants where slug = 'Bad_Slug'`).count).toBe(0);
  });

  test("a name that begins like a team's makes no tenant", async () => {
    for (const slug of ["t-abc", `t-${crypto.randomUUID()}`]) {
      const answer = await at.node.call("POST", "/v1/volumes", { label: "x" }, await at.service(slug));
      expect([answer.status, answer.body.code]).toEqual([404, "tenant_not_found"]);
      expect(await exists(slug)).toBe(false);
    }
  });
});

test("a delegated read of an unknown tenant is empty and makes none, a write makes it", async () => {
  const slug = `fresh-${crypto.randomUUID().slice(0, 8)}`;
  expect(await agents(await at.service(slug))).toEqual([]);
  const readonly = await at.service(slug, { role: "readonly" });
  expect(await agents(readonly)).toEqual([]);
  const refused = await at.node.call("POST", "/v1/volumes", { label: "x" }, readonly);
  expect([refused.status, refused.body.code]).toEqual([404, "tenant_not_found"]);
  expect(await exists(slug)).toBe(false);
  await at.deploy(await at.service(slug));
  expect((await at.admin("GET", `/${slug}`)).body).toMatchObject({ kind: "enterprise", tier: "enterprise" });
  const own = `u-${crypto.randomUUID().replaceAll("-", "")}`;
  await at.deploy(await at.service(own));
  expect((await at.admin("GET", `/${own}`)).body).toMatchObject({ kind: "consumer", tier: "free" });
  expect(await actions(slug)).toEqual(["tenant.autoprovisioned"]);
});

test("a consumer who names another tenant acts in their own, without an error", async () => {
  const slug = await at.newTenant();
  await at.deploy(await at.service(slug));
  const headers = await at.consumer(crypto.randomUUID());
  const own = await at.deploy(headers);
  for (const name of ["X-Tenant-Id", "X-Svc-Tenant"]) expect(await agents({ ...headers, [name]: slug })).toEqual([own]);
});

test("an admin who switches sees the tenant, on record; other operators do not", async () => {
  const slug = await at.newTenant();
  const agent = await at.deploy(await at.service(slug));
  const admin = await at.operator("admin");
  expect(await agents({ ...admin, "X-Svc-Tenant": slug })).toContain(agent);
  const entries = (
    await at.node.call("GET", `/v1/admin/audit?tenant_id=${slug}&action=tenant.switch`, undefined, admin)
  ).body.items;
  expect(entries).toMatchObject([
    { tenant_id: slug, target: { type: "tenant", id: slug }, actor: { kind: "operator" } },
  ]);
  expect(await agents({ ...(await at.operator("operator")), "X-Svc-Tenant": slug })).not.toContain(agent);
});

describe("the platform's own tenant", () => {
  test("it cannot be suspended, deleted or given another standing", async () => {
    for (const [method, path, body] of [
      ["POST", "/svc-system/suspend", {}],
      ["DELETE", "/svc-system", undefined],
      ["PATCH", "/svc-system", { tier: "free" }],
      ["PATCH", "/svc-system", { quotas: { max_agents: 1 } }],
    ] as const) {
      const answer = await at.admin(method, path, body);
      expect([answer.status, answer.body.code]).toEqual([403, "tenant_protected"]);
    }
    expect((await at.admin("GET", "/svc-system")).body).toMatchObject({ status: "active", tier: "system" });
    expect((await at.admin("PATCH", "/svc-system", { display_name: "Platform" })).body.display_name).toBe("Platform");
  });
});

test("states follow each other as told, and repeats change nothing", async () => {
  const slug = await at.newTenant();
  const state = async (method: string, path: string, body?: unknown) => {
    const answer = await at.admin(method, `/${slug}${path}`, body);
    return [answer.status, answer.body.status ?? answer.body.code];
  };
  expect(await state("POST", "/suspend", { reason: "x".repeat(501) })).toEqual([422, "validation_failed"]);
  expect(await state("POST", "/suspend", { reason: "a\u0000b" })).toEqual([422, "validation_failed"]);
  expect(await state("POST", "/suspend", { reason: "late" })).toEqual([200, "suspended"]);
  expect(await state("POST", "/suspend")).toEqual([200, "suspended"]);
  expect((await at.admin("GET", `/${slug}`)).body).toMatchObject({
    suspend_reason: "late",
    suspended_at: expect.any(String),
  });
  expect(await state("POST", "/restore")).toEqual([409, "suspended"]);
  expect(await state("POST", "/resume")).toEqual([200, "active"]);
  expect(await state("POST", "/resume")).toEqual([200, "active"]);
  expect((await at.admin("GET", `/${slug}`)).body).toMatchObject({ suspend_reason: null, suspended_at: null });
  const first = await at.admin("DELETE", `/${slug}`);
  const again = await at.admin("DELETE", `/${slug}`);
  expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
  const left = Date.parse(first.body.purge_at) - Date.now();
  expect(Math.round(left / 86_400_000)).toBe(30);
  expect(await state("POST", "/suspend")).toEqual([409, "deleted"]);
  expect(await state("POST", "/resume")).toEqual([409, "deleted"]);
  expect(await state("PATCH", "", { display_name: "x" })).toEqual([409, "deleted"]);
  expect(await state("POST", "/restore")).toEqual([200, "active"]);
  expect(await state("POST", "/restore")).toEqual([200, "active"]);
  expect((await at.admin("GET", `/${slug}`)).body).toMatchObject({ deleted_at: null, purge_at: null });
  expect(await actions(slug)).toEqual([
    "tenant.created",
    "tenant.suspended",
    "tenant.resumed",
    "tenant.deleted",
    "tenant.restored",
  ]);
  await until(async () => (await at.admin("GET", `/${slug}`)).body.status === "active", { what: "the tenant" });
});
