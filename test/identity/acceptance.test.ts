/** Who may call, and as whom: a whole node asked from outside (docs/reference/identity.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ScopeColumn, scopesOfColumn } from "../../actors/identity/scopes.ts";
import { manifest, say, shell } from "../harness/manifests.ts";
import { type Answer, type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores);
  // The first user of a tenant owns it.
  await call("GET", "/v1/agents", await user("ann"));
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

type Headers = Readonly<Record<string, string>>;
const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` });
const user = async (username: string, fields: Headers = {}, tenant = "acme") =>
  bearer(await node.token({ username, ...fields }, `tenant-${tenant}`));
const consumer = async (sub: string, fields: Headers = {}) =>
  bearer(await node.token({ username: sub, sub, ...fields }, "svc-consumer"));
const operator = async (username: "admin" | "operator" | "readonly", fields: Headers = {}) =>
  bearer(
    await node.token({
      grant_type: "password",
      username,
      password: "dev",
      client_id: "",
      client_secret: "",
      ...fields,
    }),
  );
const service = async (fields: Headers = {}) =>
  bearer(await node.token({ client_id: "svc-service", client_secret: "svc-service-secret", ...fields }));
const call = (method: string, path: string, headers: Headers, body?: unknown): Promise<Answer> =>
  node.call(method, path, body, headers);
const told = ({ status, body }: Answer): readonly unknown[] => [status, body?.code];
const tenantOf = async (headers: Headers) => {
  const { status, body } = await call("POST", "/v1/volumes", headers, { label: `v-${crypto.randomUUID()}` });
  return status === 201 ? body.tenant_id : body.code;
};

interface Operation {
  readonly method: string;
  readonly path: string;
  /** Of which one is needed; null: no bearer is. */
  readonly scopes: readonly string[] | null;
}
/** Every operation of the API document, with ids that name nothing. */
async function operations(): Promise<readonly Operation[]> {
  const { paths } = (await call("GET", "/openapi.json", {})).body as {
    paths: Record<string, Record<string, { security?: readonly { bearer?: readonly string[] }[] }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { security }]) => {
      if (security === undefined) return [];
      // A route that takes a bearer and does without one has a proof of its own.
      const isExempt = security.length === 0 || security.some((one) => Object.keys(one).length === 0);
      const scopes = isExempt ? null : (security[0]?.bearer ?? []);
      return [{ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, crypto.randomUUID()), scopes }];
    }),
  );
}

test("every route that is not exempt asks for a bearer, and says how", async () => {
  const all = (await operations()).filter(({ scopes }) => scopes !== null);
  expect(all.length).toBeGreaterThan(60);
  for (const { method, path } of all) {
    const answer = await fetch(node.url + path, { method });
    const body = await answer.json();
    const told = { code: "missing_authorization", request_id: answer.headers.get("x-request-id") };
    // Clients of signed calls read errors in the shape of their protocol alone.
    const common = path === "/v1/seal/attest" ? expect.objectContaining(told) : { error: expect.any(String), ...told };
    expect([path, answer.status, body]).toEqual([path, 401, common]);
    // The tool server's clients are told besides where to learn of its tokens.
    const metadata = "http://svc.test/.well-known/oauth-protected-resource/v1/mcp";
    const challenge = path === "/v1/mcp" ? `Bearer resource_metadata="${metadata}"` : "Bearer";
    expect(answer.headers.get("www-authenticate")).toBe(challenge);
  }
});

test("a stranger learns where to sign in, and not which tenants there are", async () => {
  const ask = async (query: string) => {
    const { status, headers, body } = await call("GET", `/v1/auth/config${query}`, {});
    return { status, body, cache: headers.get("cache-control"), cookie: headers.get("set-cookie") };
  };
  const none = await ask("");
  expect(none).toMatchObject({ status: 200, cache: "public, max-age=60", cookie: null });
  for (const query of ["?tenant=", "?tenant=nobody", "?tenant=u-ada"]) expect(await ask(query)).toEqual(none);
  const own = await ask("?tenant=acme");
  expect(own.body).toMatchObject({
    issuer: "http://svc.test/realms/tenant-acme",
    client_id: "svc-console",
    password: true,
  });
  // Each of those who are named signs in with what the answer says.
  for (const { issuer, username, password } of [...none.body.people, ...own.body.people]) {
    const form = { grant_type: "password", username, password };
    const token = await node.token({ client_id: "", client_secret: "", ...form }, issuer.split("/").at(-1));
    const { status } = await call("GET", "/v1/agents", bearer(token));
    expect([username, status]).toEqual([username, 200]);
  }
});

describe("each row of the table of scopes, exercised by each kind of caller", () => {
  const callers: Readonly<Record<ScopeColumn, () => Promise<Headers>>> = {
    A: () => operator("admin"),
    O: () => operator("operator"),
    S: () => service(),
    R: () => operator("readonly"),
    T: () => user("ann"),
    M: () => user("bob", { role: "tenant:member" }),
    C: () => consumer("carl"),
  };
  // The callers of a row go at once: what they ask for is refused or names nothing.
  test.each(Object.keys(callers) as ScopeColumn[])(
    "column %s gets through, or is told the scope it lacks",
    async (column) => {
      const headers = await callers[column]();
      const held = scopesOfColumn(column);
      let refused = 0;
      for (const { method, path, scopes } of await operations()) {
        if (scopes === null || scopes.length === 0) continue;
        const { status, body } = await call(method, path, headers);
        const isHeld = scopes.some((scope) => held.has(scope));
        // Some handlers ask for more than the route does, by the records they meet.
        const required = body?.required ?? body?.error?.details?.required;
        const isRefused = body?.code === "insufficient_scope" && scopes.includes(required);
        // Of what only operators, people or the tenant's owner may do, that is told first.
        const isOther = ["operator_required", "user_identity_required", "owner_only"].includes(body?.code);
        expect([path, status, isRefused]).toEqual([path, isHeld || isOther ? status : 403, !isHeld && !isOther]);
        if (!isRefused) continue;
        refused += 1;
        expect(scopes.length === 1 ? [required] : body.required_any.split(" ")).toEqual([...scopes]);
      }
      if (["R", "M", "C"].includes(column)) expect(refused).toBeGreaterThan(0);
    },
  );
});

test("a readonly operator lists agents, and deploys none", async () => {
  const readonly = await operator("readonly");
  expect((await call("GET", "/v1/agents", readonly)).status).toBe(200);
  const refused = await call("POST", "/v1/agents", readonly, manifest());
  expect([...told(refused), refused.body.required]).toEqual([403, "insufficient_scope", "agent:deploy"]);
});

test("a query token opens streams alone, is no API key, and is in no line of the log", async () => {
  const headers = await user("ann");
  const token = headers.Authorization?.slice("Bearer ".length) ?? "";
  const { body: agent } = await call("POST", "/v1/agents", headers, manifest({ script: [shell("true"), say("x")] }));
  const { body: run } = await call("POST", "/v1/executions?wait_seconds=30", headers, {
    agent_id: agent.agent_id,
    input: "",
  });
  const stream = await fetch(`${node.url}/v1/executions/${run.execution_id}/stream?token=${token}`);
  expect([stream.status, stream.headers.get("referrer-policy"), stream.headers.get("cache-control")]).toEqual([
    200,
    "no-referrer",
    "no-store",
  ]);
  expect(await stream.text()).toContain("data: ");
  const elsewhere = await fetch(`${node.url}/v1/agents?token=${token}`);
  expect([elsewhere.status, ((await elsewhere.json()) as { code: string }).code]).toEqual([
    401,
    "missing_authorization",
  ]);
  const { body: key } = await call("POST", "/v1/api-keys", headers, { name: "k" });
  const byKey = await fetch(`${node.url}/v1/executions/${run.execution_id}/stream?token=${key.key}`);
  expect([byKey.status, ((await byKey.json()) as { code: string }).code]).toEqual([401, "invalid_token"]);
  await until(() => node.output.includes(`${run.execution_id}/stream`));
  for (const secret of [token, key.key]) expect(node.output.includes(secret)).toBe(false);
});

test("a consumer's tenant headers have no effect, nor a machine's X-Svc-Tenant", async () => {
  const carl = await consumer("carl");
  for (const name of ["X-Tenant-Id", "X-Svc-Tenant"])
    expect(await tenantOf({ ...carl, [name]: "acme" })).toBe("u-carl");
  expect(await tenantOf({ ...(await user("ann")), "X-Tenant-Id": "other" })).toBe("acme");
  expect(await tenantOf({ ...(await operator("operator")), "X-Svc-Tenant": "acme" })).toBe("svc-system");
  expect(await tenantOf({ ...(await service()), "X-Svc-Tenant": "acme" })).toBe("svc-system");
});

const team = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11";
async function makeTeam(): Promise<void> {
  await call("GET", "/v1/agents", await consumer("founder"));
  await stores.sql`
    insert into tenants (slug, kind, display_name, team_tier, owner_tenant)
    values (${`t-${team}`}, 'team', 'team', 'business', 'u-founder') on conflict do nothing`;
  // The team's owner pays for a tier that teams are part of.
  await stores.sql`update tenants set admin_tier = 'business' where slug = 'u-founder'`;
  await stores.sql`
    insert into tenant_members (tenant, realm, user_id, role)
    values (${`t-${team}`}, 'svc-consumer', 'founder', 'owner'), (${`t-${team}`}, 'svc-consumer', 'dora', 'member')
    on conflict do nothing`;
}

test("X-Svc-Team opens a team to its members alone, with their role there", async () => {
  await makeTeam();
  const dora = { ...(await consumer("dora")), "X-Svc-Team": team };
  expect(await tenantOf(dora)).toBe(`t-${team}`);
  expect(await tenantOf({ ...dora, "X-Svc-Team": `t-${team.toUpperCase()}`.replace("T-", "t-") })).toBe(`t-${team}`);
  // A member's column there, the owner's in the team, a consumer's at home.
  const manages = async (headers: Headers) => told(await call("PUT", "/v1/stimulus-routes/router", headers, {}))[1];
  expect(await manages(dora)).toBe("insufficient_scope");
  expect(await manages({ ...(await consumer("founder")), "X-Svc-Team": team })).not.toBe("insufficient_scope");
  expect(await manages(await consumer("dora"))).not.toBe("insufficient_scope");
  // The same subject, issued by a tenant's own realm, is another person.
  const same = { ...(await user("x", { sub: "dora" })), "X-Svc-Team": team };
  expect(told(await call("GET", "/v1/agents", same))).toEqual([403, "not_a_team_member"]);
  const { body: key } = await call("POST", "/v1/api-keys", dora, { name: "k" });
  expect(told(await call("GET", `/v1/api-keys/${key.id}`, await user("x", { sub: "dora" })))[1]).toBe(
    "api_key_not_found",
  );
  const unknown = { ...dora, "X-Svc-Team": crypto.randomUUID() };
  expect(told(await call("GET", "/v1/agents", unknown))).toEqual([403, "not_a_team_member"]);
  expect(told(await call("GET", "/v1/agents", { ...dora, "X-Svc-Team": "nonsense" }))).toEqual([
    400,
    "invalid_tenant_slug",
  ]);
});

test("a tenant claim names the own tenant, an enterprise tenant or a team of theirs", async () => {
  await makeTeam();
  const at = async (sub: string, tenant: string) => tenantOf(await consumer(sub, { tenant_id: tenant }));
  expect(await at("dora", `t-${team}`)).toBe(`t-${team}`);
  expect(await at("dora", "u-dora")).toBe("u-dora");
  for (const tenant of ["u-carl", `t-${crypto.randomUUID()}`, "unheard-of", "svc-system"])
    expect([tenant, await at("dora", tenant)]).toEqual([tenant, "invalid_tenant_slug"]);
  expect(await at("carl", `t-${team}`)).toBe("invalid_tenant_slug");
  const guest = await consumer("carl", { tenant_id: "acme" });
  expect((await call("GET", "/v1/agents", guest)).status).toBe(200);
  expect(told(await call("PUT", "/v1/stimulus-routes/router", guest, {}))).toEqual([403, "insufficient_scope"]);
});

test("`scope` in the token of a consumer or member adds nothing", async () => {
  const scope = "secret:read billing:write tenant:list stimulus:manage";
  const mine = async (headers: Headers) => {
    const { body } = await call("POST", "/v1/api-keys", headers, { name: "k" });
    return new Set(body.scopes);
  };
  expect(await mine(await consumer("carl", { scope }))).toEqual(await mine(await consumer("carl")));
  const member = { role: "tenant:member" };
  expect(await mine(await user("bob", { scope, ...member }))).toEqual(await mine(await user("bob", member)));
});

test("no claim or address makes a second owner, and no claim revives a member", async () => {
  await stores.sql`
    insert into tenants (slug, kind, display_name, owner_email) values ('owned', 'enterprise', 'o', 'Olga@Owned.test')`;
  const owned = (username: string, fields: Headers = {}) => user(username, fields, "owned");
  const roles = async () =>
    Object.fromEntries(
      (await stores.sql`select user_id, role from tenant_members where tenant = 'owned'`).map(({ user_id, role }) => [
        user_id,
        role,
      ]),
    );
  await call("GET", "/v1/agents", await owned("early", { sub: "early" }));
  await call(
    "GET",
    "/v1/agents",
    await owned("olga", { sub: "unproven", email: "olga@owned.test", email_verified: "false" }),
  );
  await call("GET", "/v1/agents", await owned("olga", { sub: "olga", email: "olga@owned.test" }));
  await call("GET", "/v1/agents", await owned("late", { sub: "late", email: "olga@owned.test" }));
  await call("GET", "/v1/agents", await owned("claims", { sub: "claims", role: "tenant:owner" }));
  expect(await roles()).toEqual({ early: "admin", unproven: "admin", olga: "owner", late: "admin", claims: "admin" });
  await stores.sql`update tenant_members set status = 'revoked' where tenant = 'owned' and user_id = 'late'`;
  await until(async () => (await call("GET", "/v1/agents", await owned("late", { sub: "late" }))).status === 403);
  for (const role of ["tenant:owner", "tenant:admin", ""])
    expect(told(await call("GET", "/v1/agents", await owned("late", { sub: "late", role })))).toEqual([
      403,
      "membership_revoked",
    ]);
  const { body: log } = await until(async () => {
    const listed = await call("GET", "/v1/audit?action=auth.denied&actor=late", await owned("olga", { sub: "olga" }));
    return listed.body.items.length > 0 ? listed : null;
  });
  expect(log.items[0]).toMatchObject({ actor: { realm: "tenant-owned", user_id: "late" }, outcome: "denied" });
});

test("a delegated read of an unknown tenant is empty and makes none; a write makes it", async () => {
  const at = async (headers: Headers, slug: string) => ({ ...headers, "X-Tenant-Id": slug });
  const exists = async (slug: string) => (await stores.sql`select 1 from tenants where slug = ${slug}`).length > 0;
  const dev = bearer(await node.token());
  expect((await call("GET", "/v1/agents", await at(dev, "fresh"))).body.items).toEqual([]);
  expect(await exists("fresh")).toBe(false);
  // Neither does a write that is refused before it begins.
  expect(told(await call("POST", "/v1/volumes", await at(dev, "Bad_Slug"), { label: "x" }))[1]).toBe(
    "invalid_tenant_slug",
  );
  const readonly = bearer(await node.token({ role: "readonly" }));
  expect(told(await call("POST", "/v1/volumes", await at(readonly, "fresh"), { label: "x" }))[1]).toBe(
    "tenant_not_found",
  );
  expect(await exists("fresh")).toBe(false);
  expect((await call("POST", "/v1/volumes", await at(dev, "fresh"), { label: "x" })).status).toBe(201);
  expect(await exists("fresh")).toBe(true);
});
