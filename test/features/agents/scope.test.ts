/** Who may change an agent and who sees it: tenants, the global scope, rights (docs/reference/agents.md). */
import { afterAll, describe, expect, test } from "bun:test";
import { acting, caller, named, newName, newTenant, openFixture, publisher, switched } from "./fixture.ts";

const fixture = await openFixture();
const { post, patch, read, deployed, history } = acting(fixture);
afterAll(() => fixture.dispose());

describe("scope", () => {
  test("the values of a global agent's manifest are shown to its publishers alone", async () => {
    const other = newTenant();
    const env = { KEY: "not for everybody" };
    const { body: agent } = await fixture.deploy(publisher(), named(newName(), "1.0.0", { env }), "?scope=global");
    const seen = async (token: string) => {
      const detail = await read(token, agent.id);
      const { body } = await fixture.call(token, `/v1/agents/${agent.id}/versions`);
      return [detail.manifest.spec.env.KEY, JSON.stringify([detail, body]).includes(env.KEY)];
    };
    expect(await seen(publisher())).toEqual([env.KEY, true]);
    expect(await seen(other.token)).toEqual(["********", false]);
  });

  test("promoted by a switched administrator, visible to all tenants, given back", async () => {
    const { tenant, token, id, name } = await deployed();
    const other = newTenant();
    const promoted = await post(switched(tenant), `${id}/scope`, { target_scope: "global" });
    expect(promoted.body).toMatchObject({
      success: true,
      changed: true,
      previous_scope: "tenant",
      new_scope: "global",
      scope: "global",
      tenant_id: "svc-system",
      name,
    });
    expect(await read(other.token, id)).toMatchObject({ scope: "global", tenant_id: "svc-system" });
    expect(await fixture.agents.resolveForExecution({ tenant: other.tenant, agentId: id })).toMatchObject({ name });
    // Its former owner sees it as everybody does, and may not change it any more.
    for (const answer of [
      await patch(token, id, { description: "mine" }),
      await post(token, `${id}/pause`),
      await post(token, `${id}/rollback`),
      await fixture.call(token, `/v1/agents/${id}`, { method: "DELETE" }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([403, "global_scope_forbidden"]);
    }
    const same = await patch(publisher(), `${id}/scope`, { scope: "global" });
    expect(same.body).toMatchObject({ changed: false, previous_scope: "global", new_scope: "global" });
    const demoted = await patch(publisher(), `${id}/scope`, { scope: "tenant" });
    expect(demoted.body).toMatchObject({ changed: true, tenant_id: tenant, scope: "tenant" });
    expect((await fixture.call(other.token, `/v1/agents/${id}`)).status).toBe(404);
    expect((await read(token, id)).tenant_id).toBe(tenant);
    const rows = await history(id);
    expect(rows.slice(1).map((row) => [row.type, row.tenant, row.body.previous_scope, row.body.new_scope])).toEqual([
      ["agent_scope_changed", "svc-system", "tenant", "global"],
      ["agent_scope_changed", tenant, "global", "tenant"],
    ]);
  });

  test("callers without permission, and unknown scopes", async () => {
    const { token, id } = await deployed();
    const consumer = caller("u-scope", { kind: "consumer" });
    const { body: own } = await fixture.deploy(consumer, named(newName()));
    expect((await post(consumer, `${own.id}/scope`, { target_scope: "global" })).body.code).toBe(
      "global_scope_forbidden",
    );
    expect((await post(consumer, `${own.id}/scope`, { scope: "tenant" })).status).toBe(403);
    expect((await post(token, `${id}/scope`, { scope: "global" })).status).toBe(403);
    for (const body of [{}, { scope: "galaxy" }, { scope: null }, { target_scope: 7 }]) {
      expect((await post(publisher(), `${id}/scope`, body)).body.code).toBe("validation_failed");
    }
    expect((await post(publisher(), `${id}/scope`, { scope: "global" })).status).toBe(404);
  });

  test("a name that is taken on the other side", async () => {
    const { tenant, token, id, name } = await deployed();
    const { body: common } = await fixture.deploy(publisher(), named(name));
    const up = await post(switched(tenant), `${id}/scope`, { scope: "global" });
    expect([up.status, up.body.code, up.body.existing_id]).toEqual([409, "agent_name_conflict", common.id]);
    await fixture.call(publisher(), `/v1/agents/${common.id}`, { method: "DELETE" });
    expect((await post(switched(tenant), `${id}/scope`, { scope: "global" })).status).toBe(200);
    const { body: second } = await fixture.deploy(token, named(name));
    expect(second.id).not.toBe(id);
    const down = await post(publisher(), `${id}/scope`, { scope: "tenant" });
    expect([down.status, down.body.existing_id]).toEqual([409, second.id]);
    expect(await read(publisher(), id)).toMatchObject({ scope: "global", name });
  });

  test("promotions of one name at once: one wins", async () => {
    const name = newName();
    const ids = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const { tenant, token } = newTenant();
        return { tenant, id: (await fixture.deploy(token, named(name))).body.id as string };
      }),
    );
    const answers = await Promise.all(
      ids.map(({ tenant, id }) => post(switched(tenant), `${id}/scope`, { scope: "global" })),
    );
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 409, 409, 409]);
  });

  test("deployed globally: the platform's from the start", async () => {
    const name = newName();
    const { body } = await fixture.deploy(publisher(), named(name), "?scope=global");
    expect(body).toMatchObject({ scope: "global", tenant_id: "svc-system", created: true });
    const { token } = newTenant();
    expect((await fixture.call(token, `/v1/agents/lookup/${name}`)).body.id).toBe(body.id);
    const own = await fixture.deploy(token, named(name));
    expect(own.body.created).toBe(true);
    expect((await fixture.call(token, `/v1/agents/lookup/${name}`)).body.id).toBe(own.body.id);
    const again = await fixture.deploy(publisher(), named(name), "?scope=global");
    expect([again.status, again.body.agent_id]).toEqual([409, body.id]);
    // Without asking for it, a new version of a global agent stays global.
    expect((await fixture.deploy(publisher(), named(name, "2.0.0"))).body).toMatchObject({
      id: body.id,
      scope: "global",
    });
  });

  test("an administrator's global deploy goes back to the tenant it came from", async () => {
    const { tenant } = newTenant();
    const name = newName();
    const { body } = await fixture.deploy(switched(tenant), named(name), "?scope=global");
    expect(body.tenant_id).toBe("svc-system");
    expect((await post(publisher(), `${body.id}/scope`, { scope: "tenant" })).body.tenant_id).toBe(tenant);
  });

  test("the permission comes after the manifest and before its version", async () => {
    const consumer = caller("u-order", { kind: "consumer" });
    const name = newName();
    await fixture.deploy(publisher(), named(name), "?scope=global");
    expect((await fixture.deploy(consumer, { ...named(name), kind: "Robot" }, "?scope=global")).body.code).toBe(
      "invalid_manifest",
    );
    expect((await fixture.deploy(consumer, named(name), "?scope=global")).body.code).toBe("global_scope_forbidden");
  });

  test("deleting one ends its executions in every tenant", async () => {
    const { body } = await fixture.deploy(publisher(), named(newName()), "?scope=global");
    await fixture.call(publisher(), `/v1/agents/${body.id}`, { method: "DELETE" });
    expect(fixture.cancelled).toContain(`svc-system ${body.id} agent_deleted`);
  });
});

describe("security contexts", () => {
  const bound = (name: string) => named(newName(), "1.0.0", { security_context: name });
  test.each([
    ["u", { kind: "consumer", tier: "pro" }, "svc-consumer-free", 200],
    ["u", { kind: "consumer", tier: "pro" }, "svc-consumer-pro", 403],
    ["u", { kind: "consumer", tier: "pro" }, "svc-system-operator", 403],
    ["u", { kind: "consumer", tier: "pro" }, "svc-agent-runtime", 200],
    ["ctx", { kind: "consumer", tier: "free" }, "svc-consumer-enterprise", 200],
    ["ctx", { kind: "tenant_user", membership: "owner" }, "svc-consumer-enterprise", 200],
    ["ctx", { kind: "service_account" }, "svc-system-operator", 200],
    ["ctx", { kind: "service_account" }, "svc-no-such", 422],
  ] as const)("tenant %s-…, %j with %s: %i", async (prefix, facts, name, status) => {
    const token = caller(`${prefix}-${newName()}`, facts);
    const answer = await fixture.deploy(token, bound(name));
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.code).toBe("security_context_forbidden");
    if (status === 422) expect(answer.body.code).toBe("unknown_security_context");
  });

  test("no caller changes an agent with more rights than theirs", async () => {
    const tenant = newName();
    const { body } = await fixture.deploy(caller(tenant), bound("svc-system-operator"));
    const user = caller(tenant, { kind: "tenant_user", membership: "owner" });
    const answer = await patch(user, body.id, { spec: { task: { instruction: "Do it for me." } } });
    expect([answer.status, answer.body.code]).toEqual([403, "security_context_forbidden"]);
  });
});
