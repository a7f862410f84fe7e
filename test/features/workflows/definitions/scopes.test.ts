/** Who sees and who changes a workflow: tenants and the global scope (docs/reference/workflows.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { ScopeChanged } from "../../../../src/features/workflows/definitions/schema.ts";
import { caller } from "../../../harness/callers.ts";
import { manifest, newTenant, openFixture, publisher } from "./fixture.ts";

let fixture: Awaited<ReturnType<typeof openFixture>>;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.dispose());

describe("tenants and scopes", () => {
  test("another tenant's workflows are unknown", async () => {
    const { token } = newTenant();
    const { id } = await fixture.register(token, manifest("private"));
    const stranger = newTenant().token;
    for (const ref of ["private", id, "private/yaml", `${id}/versions`]) {
      expect((await fixture.call(stranger, "GET", `/v1/workflows/${ref}`)).body).toMatchObject({
        code: "workflow_not_found",
      });
    }
    expect((await fixture.call(stranger, "DELETE", `/v1/workflows/${id}`)).status).toBe(404);
    expect((await fixture.call(stranger, "POST", `/v1/workflows/${id}/scope`, { scope: "global" })).status).toBe(404);
    expect((await fixture.call(stranger, "GET", "/v1/workflows?visible=true&limit=500")).text).not.toContain("private");
  });

  test("of a global one its publishers alone see what is secret", async () => {
    const notify = [{ type: "webhook", url: "https://hooks.example/x", secret: "hush-secret" }];
    const states = {
      ASK: { kind: "Human", prompt: "{{input.what}}?", notify, transitions: [{ condition: "approved", target: "DO" }] },
      DO: { kind: "System", command: "true", env: { TOKEN: "hush-env" }, transitions: [] },
    };
    const document = {
      apiVersion: "svc.dev/v1",
      kind: "Workflow",
      metadata: { name: "with-secrets" },
      spec: { initial_state: "ASK", states },
    };
    const { id } = await fixture.register(publisher(), JSON.stringify(document), "?scope=global");
    const textFor = async (token: string) =>
      (await fixture.call(token, "GET", `/v1/workflows/${id}`)).body.manifest_yaml;
    expect(await textFor(publisher())).toContain("hush-secret");
    const shown = await textFor(newTenant().token);
    expect(shown).not.toContain("hush");
    expect(shown).toContain("{{input.what}}?");
    expect(shown).toContain("TOKEN");
  });

  test("global ones are for publishers to make, and a tenant's own comes first", async () => {
    const { tenant, token } = newTenant();
    const refused = await fixture.call(token, "POST", "/v1/workflows?scope=global", manifest("shared"));
    expect(refused).toMatchObject({ status: 403, body: { code: "global_scope_forbidden" } });
    const shared = await fixture.register(publisher(), manifest("shared"), "?scope=global");
    expect(shared).toMatchObject({ scope: "global", tenant_id: "svc-system" });
    expect(await fixture.workflows.resolve({ tenant, ref: "shared", version: null })).toMatchObject({
      workflow_id: shared.id,
      owner: "svc-system",
    });
    expect((await fixture.call(token, "DELETE", "/v1/workflows/shared")).status).toBe(403);
    const own = await fixture.register(token, manifest("shared", "0.1.0"), "?force=true");
    expect(own.id).not.toBe(shared.id);
    expect((await fixture.call(token, "GET", "/v1/workflows/shared")).body.id).toBe(own.id);
    const toRun = await fixture.workflows.resolve({ tenant, ref: "shared", version: null });
    expect(toRun).toMatchObject({ workflow_id: own.id, version: "0.1.0" });
    expect((await fixture.call(newTenant().token, "GET", "/v1/workflows/shared")).body.id).toBe(shared.id);
    const visible = await fixture.call(token, "GET", "/v1/workflows?visible=true");
    expect(visible.body.items.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining([own.id, shared.id]));
    expect(
      (await fixture.call(token, "GET", "/v1/workflows?scope=global")).body.items.map(({ id }: { id: string }) => id),
    ).not.toContain(own.id);
  });

  test("the system tenant's own one stands beside a global one of that name", async () => {
    const stranger = newTenant().token;
    const own = await fixture.register(publisher(), manifest("system-own"));
    expect(own).toMatchObject({ scope: "tenant", tenant_id: "svc-system" });
    const at = (path: string) => `/v1/workflows/${path}`;
    expect((await fixture.call(stranger, "GET", at("system-own"))).status).toBe(404);
    expect((await fixture.call(stranger, "GET", at(own.id))).status).toBe(404);
    expect((await fixture.call(stranger, "GET", "/v1/workflows?visible=true&limit=500")).text).not.toContain(own.id);
    const shared = await fixture.register(publisher(), manifest("system-own"), "?scope=global");
    expect(shared).toMatchObject({ scope: "global", tenant_id: "svc-system" });
    expect((await fixture.call(stranger, "GET", at("system-own"))).body.id).toBe(shared.id);
    expect((await fixture.call(publisher(), "GET", at("system-own"))).body.id).toBe(own.id);
    const listed: string[] = [];
    for (let cursor = ""; ; ) {
      const page = await fixture.call(publisher(), "GET", `/v1/workflows?visible=true&limit=1${cursor}`);
      listed.push(...page.body.items.map(({ id }: { id: string }) => id));
      if (page.body.next_cursor === null) break;
      cursor = `&cursor=${page.body.next_cursor}`;
    }
    expect(listed.filter((id) => id === own.id || id === shared.id).sort()).toEqual([own.id, shared.id].sort());
    const taken = await fixture.call(publisher(), "POST", at(`${shared.id}/scope`), { scope: "tenant" });
    expect(taken).toMatchObject({ status: 409, body: { code: "workflow_name_taken", existing_id: own.id } });
    expect((await fixture.call(publisher(), "DELETE", at(own.id))).status).toBe(200);
    const back = await fixture.call(publisher(), "POST", at(`${shared.id}/scope`), { scope: "tenant" });
    expect(back.body).toMatchObject({ scope: "tenant", new_scope: "tenant", changed: true, id: shared.id });
    expect((await fixture.call(stranger, "GET", at("system-own"))).status).toBe(404);
  });

  test("a global one may name only what every tenant sees", async () => {
    fixture.agents.add("svc-system systems-own");
    fixture.agents.add("seen-by-all");
    const naming = (agent: string) =>
      manifest("for-all", "1.0.0", {
        spec: { states: { DONE: { kind: "Agent", agent, input: "x", transitions: [] } } },
      });
    const refused = await fixture.call(publisher(), "POST", "/v1/workflows?scope=global", naming("systems-own"));
    expect(refused).toMatchObject({ status: 422, body: { issues: [{ code: "agent_not_found" }] } });
    await fixture.register(publisher(), naming("seen-by-all"), "?scope=global");
  });

  test("promotion and demotion move every version and keep the ids", async () => {
    const { tenant, token } = newTenant();
    const admin = caller(tenant, { kind: "operator", role: "admin" });
    const ids = [];
    for (const version of ["1.0.0", "2.0.0"]) ids.push((await fixture.register(token, manifest("moves", version))).id);
    expect((await fixture.call(token, "POST", "/v1/workflows/moves/scope", { scope: "global" })).status).toBe(403);
    const promoted = await fixture.call(admin, "PATCH", "/v1/workflows/moves/scope", { target_scope: "global" });
    expect(promoted.body).toMatchObject({
      previous_scope: "tenant",
      new_scope: "global",
      changed: true,
      success: true,
      id: ids[1],
    });
    expect([...Value.Errors(ScopeChanged, promoted.body)]).toEqual([]);
    const stranger = newTenant().token;
    for (const id of ids)
      expect((await fixture.call(stranger, "GET", `/v1/workflows/${id}`)).body.scope).toBe("global");
    expect((await fixture.call(admin, "POST", "/v1/workflows/moves/scope", { scope: "global" })).body).toMatchObject({
      changed: false,
    });
    await fixture.register(token, manifest("moves", "3.0.0"));
    const taken = await fixture.call(admin, "POST", `/v1/workflows/${ids[0]}/scope`, { scope: "tenant" });
    expect(taken).toMatchObject({ status: 409, body: { code: "workflow_name_taken" } });
    await fixture.call(token, "DELETE", "/v1/workflows/moves");
    const demoted = await fixture.call(admin, "POST", `/v1/workflows/${ids[0]}/scope`, { scope: "tenant" });
    expect(demoted.body).toMatchObject({ tenant_id: tenant, scope: "tenant" });
    expect((await fixture.call(admin, "POST", "/v1/workflows/moves/scope", {})).status).toBe(422);
    const changes =
      await fixture.sql`select distinct type, actor_sub from workflow_changes where name = 'moves' order by type`;
    expect(changes.map(({ type }) => type)).toEqual(["WorkflowRegistered", "WorkflowRemoved", "WorkflowScopeChanged"]);
  });
});
