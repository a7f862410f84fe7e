/** Credentials through the API: stored, shown, rotated, granted, revoked (docs/reference/credentials.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { say } from "../../harness/manifests.ts";
import { type Caller, CredentialFixture } from "./fixture.ts";

let at: CredentialFixture;
let owner: Caller;
let admin: Caller;
let member: Caller;
let machine: Caller;
beforeAll(async () => {
  at = await CredentialFixture.open({ SVC_LOG_LEVEL: "info" });
  owner = await at.member("olga", "tenant:owner");
  admin = await at.member("ada", "tenant:admin");
  member = await at.member("max");
  machine = { Authorization: `Bearer ${await at.node.token()}`, "X-Tenant-Id": "acme" };
  await at.call(owner, "GET", "");
});
afterAll(() => at.close());

const unknown = "01920000-0000-7000-8000-000000000000";
const code = async (answer: ReturnType<CredentialFixture["call"]>) => {
  const { status, body } = await answer;
  return [status, body?.code ?? null];
};

describe("a value", () => {
  test("stored by any route and name it is in no answer, log or dump", async () => {
    const [path, alias] = ["/api-keys", "/api-key"];
    const routes = [
      [path, "value"],
      [path, "api_key_value"],
      [path, "api_key"],
      [alias, "value"],
    ] as const;
    const answers: string[] = [];
    const ids: string[] = [];
    for (const [index, [route, name]] of routes.entries()) {
      const { status, body } = await at.call(member, "POST", route, {
        provider: "CRM",
        [name]: `s3cret-value-${index}`,
      });
      expect(status).toBe(201);
      expect(body).toEqual({
        id: expect.any(String),
        provider: "crm",
        credential_type: "secret",
        label: null,
        scope: "personal",
        status: "active",
        owner_user_id: expect.any(String),
        tenant_id: "acme",
        metadata: {},
        scopes: [],
        expires_at: null,
        grants_count: 0,
        created_at: expect.any(String),
        updated_at: expect.any(String),
        last_used: null,
        last_used_at: null,
        version: 1,
      });
      ids.push(body.id);
      answers.push(JSON.stringify(body));
    }
    const [id = ""] = ids;
    const { body: rotated } = await at.call(member, "POST", `/${id}/rotate`, { new_value: "s3cret-value-new" });
    expect(rotated).toMatchObject({ id, version: 2, status: "active", rotated: true });
    const { credential, ...shown } = (await at.call(member, "GET", `/${id}`)).body;
    expect(shown).toEqual(credential);
    const list = (await at.call(member, "GET", "?provider=crm")).body;
    expect(list.credentials).toEqual(list.items);
    expect(list.items.map((item: { id: string }) => item.id)).toEqual(ids);
    answers.push(JSON.stringify([rotated, shown, list]));
    expect(answers.join()).not.toContain("s3cret-value");
    expect(at.node.output).not.toContain("s3cret-value");
    expect(await at.dump()).not.toContain("s3cret-value");
  });

  test("under an Idempotency-Key leaves no digest that it could be guessed from", async () => {
    const post = (path: string, body: object) =>
      at.call(member, "POST", path, body, { "Idempotency-Key": "guessable" });
    const made = await post("/api-keys", { provider: "crm", value: "1234" });
    const again = await post("/api-keys", { provider: "crm", value: "1234" });
    expect([again.status, again.body]).toEqual([201, made.body]);
    expect(await code(post("/api-keys", { provider: "crm", value: "4321" }))).toEqual([422, "idempotency_key_reused"]);
    const { id } = made.body;
    expect((await post(`/${id}/rotate`, { new_value: "5678" })).status).toBe(200);
    const digest = (path: string, body: object) =>
      new Bun.CryptoHasher("sha256")
        .update(`/v1/credentials${path}\n`)
        .update(JSON.stringify(body))
        .digest("base64url");
    const kept = JSON.stringify(await at.sql`select * from idempotency_keys`);
    expect(kept).not.toContain(digest("/api-keys", { provider: "crm", value: "1234" }));
    expect(kept).not.toContain(digest(`/${id}/rotate`, { new_value: "5678" }));
    await at.call(member, "DELETE", `/${id}`);
  });

  test("rotated under its other name keeps the id and erases the one before", async () => {
    const { id } = await at.made(member);
    const ciphertext = async () => (await at.sql`select ciphertext from credentials where id = ${id}`)[0]?.ciphertext;
    const before = await ciphertext();
    expect((await at.call(member, "POST", `/${id}/rotate`, { value: "other" })).body.id).toBe(id);
    expect(await at.dump()).not.toContain(before);
    expect(await ciphertext()).toEqual(expect.any(String));
  });

  test("what cannot be stored is told", async () => {
    const good = { provider: "crm", value: "x" };
    const cases: [Record<string, unknown>, string][] = [
      [{ provider: "crm" }, "value"],
      [{ ...good, api_key: "y" }, "value"],
      [{ ...good, value: "x".repeat(65_537) }, "value"],
      [{ ...good, value: "\u0000" }, "value"],
      [{ ...good, provider: "-crm" }, "provider"],
      [{ ...good, label: "a\nb" }, "label"],
      [{ ...good, scope: "team:01920000-0000-7000-8000-000000000000" }, "scope"],
      [{ ...good, credential_type: "oauth2" }, "credential_type"],
      [{ ...good, metadata: { tags: "x".repeat(20_000) } }, "metadata"],
      [{ ...good, expires_at: "2001-01-01T00:00:00Z" }, "expires_at"],
    ];
    for (const [body, path] of cases) {
      const { status, body: answer } = await at.call(member, "POST", "/api-keys", body);
      expect([path, status, answer.issues?.[0].path]).toEqual([path, 422, path]);
    }
    const { id } = await at.made(member);
    expect(await code(at.call(member, "POST", `/${id}/rotate`))).toEqual([422, "validation_failed"]);
    const params = { new_value: "y", provider_params: { a: 1 } };
    expect(await code(at.call(member, "POST", `/${id}/rotate`, params))).toEqual([422, "validation_failed"]);
  });

  test("the same Idempotency-Key stores it once", async () => {
    const headers = { "Idempotency-Key": "once" };
    const body = { provider: "once", value: "x" };
    const [first, again] = [
      await at.call(member, "POST", "/api-keys", body, headers),
      await at.call(member, "POST", "/api-keys", body, headers),
    ];
    expect(again.body).toEqual(first.body);
    expect((await at.call(member, "GET", "?provider=once")).body.count).toBe(1);
  });
});

describe("whose it is", () => {
  test("another user's personal credential is unknown, to administrators too", async () => {
    const { id } = await at.made(member);
    const { id: mine } = await at.made(admin);
    const grant = (await at.call(admin, "POST", `/${mine}/grants`, { target_type: "all_agents" })).body;
    const attempts = [
      ["GET", `/${id}`],
      ["POST", `/${id}/rotate`, { new_value: "x" }],
      ["DELETE", `/${id}`],
      ["GET", `/${id}/grants`],
      ["POST", `/${id}/grants`, { target_type: "all_agents" }],
      ["DELETE", `/${id}/grants/${grant.id}`],
    ] as const;
    for (const who of [admin, owner, machine, await at.consumer("eve")]) {
      for (const [method, path, body] of attempts) {
        const answer = await at.call(who, method, path, body);
        const foreign = await at.call(who, method, path.replace(id, unknown), body);
        const { request_id: _, ...seen } = answer.body;
        const { request_id: __, ...absent } = foreign.body;
        expect([method, answer.status, seen]).toEqual([method, 404, absent]);
        expect(seen.code).toBe("credential_not_found");
      }
      expect((await at.call(who, "GET", "")).body.items.map((item: { id: string }) => item.id)).not.toContain(id);
    }
  });

  test("the same subject of another realm is another user", async () => {
    const sub = "11111111-2222-4333-8444-555555555555";
    const mine = await at.bearer({ username: "sam", sub, role: "tenant:member" }, "tenant-acme");
    const other = await at.bearer({ username: "sam", sub, tenant_id: "acme" }, "svc-consumer");
    const { id } = await at.made(mine);
    expect(await code(at.call(other, "GET", `/${id}`))).toEqual([404, "credential_not_found"]);
  });

  test("a tenant credential is changed by its creator, administrators and machines alone", async () => {
    const { id, scope } = await at.made(member, { scope: "tenant" });
    expect(scope).toBe("tenant");
    const other = await at.member("mia");
    expect((await at.call(other, "GET", `/${id}`)).status).toBe(200);
    const attempts = [
      ["POST", `/${id}/rotate`, { new_value: "x" }],
      ["POST", `/${id}/grants`, { target_type: "all_agents" }],
      ["DELETE", `/${id}/grants/${unknown}`],
      ["DELETE", `/${id}`],
    ] as const;
    for (const [method, path, body] of attempts) {
      expect(await code(at.call(other, method, path, body))).toEqual([403, "not_credential_owner"]);
    }
    for (const who of [member, admin, owner, machine]) {
      expect((await at.call(who, "POST", `/${id}/rotate`, { new_value: "x" })).status).toBe(200);
    }
  });

  test("machines store for the tenant, and have none of their own", async () => {
    expect((await at.made(machine)).scope).toBe("tenant");
    const personal = { provider: "crm", value: "x", scope: "personal" };
    expect(await code(at.call(machine, "POST", "/api-keys", personal))).toEqual([403, "user_identity_required"]);
  });
});

describe("grants", () => {
  test("of an agent, a workflow, all agents; the same target again is the same grant", async () => {
    const { id } = await at.made(member);
    const agent = await at.executions.deploy({ script: [say("done")] }, owner);
    const bodies = [
      [{ agent_id: agent }, { agent_id: agent, workflow_name: null, target: { type: "agent", value: agent } }],
      [{ target_type: "all_agents" }, { agent_id: null, target: { type: "all_agents", value: null } }],
    ] as const;
    for (const [body, shown] of bodies) {
      const first = await at.call(member, "POST", `/${id}/grants`, { ...body, permission_type: "use" });
      expect(first.status).toBe(201);
      expect(first.body).toMatchObject({ ...shown, credential_id: id, permission_type: "read", expires_at: null });
      const again = await at.call(member, "POST", `/${id}/grants`, body);
      expect([again.status, again.body]).toEqual([200, first.body]);
    }
    const list = (await at.call(member, "GET", `/${id}/grants`)).body;
    expect([list.count, list.grants]).toEqual([2, list.items]);
    expect((await at.call(member, "GET", `/${id}`)).body.grants_count).toBe(2);
    const [{ grant_id }] = list.items;
    for (let round = 0; round < 2; round++) {
      const ended = await at.call(member, "DELETE", `/${id}/grants/${grant_id}`);
      expect(ended.body).toEqual({ status: "revoked", grant_id });
    }
    expect((await at.call(member, "GET", `/${id}/grants`)).body.count).toBe(1);
  });

  test("what is unknown or unclear is refused", async () => {
    const { id } = await at.made(member);
    const cases: [unknown, number, string][] = [
      [{ agent_id: unknown }, 404, "agent_not_found"],
      [{ workflow_name: "none" }, 404, "workflow_not_found"],
      [{}, 422, "validation_failed"],
      [{ agent_id: unknown, workflow_name: "none" }, 422, "validation_failed"],
      [{ target_type: "agent" }, 422, "validation_failed"],
      [{ target_type: "all_agents", permission_type: "write" }, 422, "validation_failed"],
      [{ target_type: "all_agents", expires_at: "2001-01-01T00:00:00Z" }, 422, "validation_failed"],
    ];
    for (const [body, status, word] of cases) {
      expect(await code(at.call(member, "POST", `/${id}/grants`, body))).toEqual([status, word]);
    }
    expect(await code(at.call(member, "DELETE", `/${id}/grants/${unknown}`))).toEqual([404, "not_found"]);
  });
});

describe("revoking", () => {
  test("erases the value, ends the grants, is repeatable and final", async () => {
    const { id } = await at.made(member);
    await at.call(member, "POST", `/${id}/grants`, { target_type: "all_agents" });
    for (let round = 0; round < 2; round++) {
      expect((await at.call(member, "DELETE", `/${id}`)).body).toEqual({ status: "revoked", id });
    }
    expect((await at.sql`select ciphertext from credentials where id = ${id}`)[0]?.ciphertext).toBeNull();
    expect((await at.call(member, "GET", `/${id}`)).body).toMatchObject({ status: "revoked", grants_count: 0 });
    expect(await code(at.call(member, "POST", `/${id}/rotate`, { value: "x" }))).toEqual([409, "credential_revoked"]);
    const grant = at.call(member, "POST", `/${id}/grants`, { target_type: "all_agents" });
    expect(await code(grant)).toEqual([409, "credential_revoked"]);
    const ids = async (query: string) =>
      (await at.call(member, "GET", query)).body.items.map((item: { id: string }) => item.id);
    expect(await ids("")).not.toContain(id);
    expect(await ids("?status=revoked")).toContain(id);
  });

  test("every change is in the audit log, with who made it", async () => {
    const { id } = await at.made(member);
    await at.call(member, "POST", `/${id}/rotate`, { value: "x" });
    const { body: grant } = await at.call(member, "POST", `/${id}/grants`, { target_type: "all_agents" });
    await at.call(member, "DELETE", `/${id}/grants/${grant.id}`);
    await at.call(member, "DELETE", `/${id}`);
    const { body } = await at.node.call("GET", `/v1/audit?target_id=${id}`, undefined, owner);
    const told = body.items.map((entry: { action: string; actor: { user_id: string } }) => entry);
    expect(told.map(({ action }: { action: string }) => action)).toEqual([
      "credential.revoked",
      "credential.grant_revoked",
      "credential.granted",
      "credential.rotated",
      "credential.created",
    ]);
  });
});

test("a tenant has at most 1,000 that are not revoked, however many are stored at once", async () => {
  const who = await at.consumer("hoarder");
  const first = await at.made(who);
  await at.sql`
    insert into credentials (id, tenant, provider, credential_type, scope, status, realm, user_id)
    select gen_random_uuid(), ${first.tenant_id}, 'crm', 'secret', 'tenant', 'active', 'r', 'u'
    from generate_series(1, 997)`;
  const body = { provider: "crm", value: "x" };
  const answers = await Promise.all(Array.from({ length: 5 }, () => at.call(who, "POST", "/api-keys", body)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 402, 402, 402]);
  await at.call(who, "DELETE", `/${first.id}`);
  expect((await at.call(who, "POST", "/api-keys", body)).status).toBe(201);
});
