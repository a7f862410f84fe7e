/** Agents as they are read and listed, over real stores (docs/reference/agents.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { stringify } from "yaml";
import { AgentDetail, AgentElement, VersionElement } from "../../../src/features/agents/schema.ts";
import { manifestWith } from "../../actors/agent/offer.ts";
import { caller, misfits, named, newTenant, openFixture, unknownId } from "./fixture.ts";

let fixture: Awaited<ReturnType<typeof openFixture>>;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.dispose());

describe("read", () => {
  test("detail has every field, well typed", async () => {
    const { tenant, token } = newTenant();
    const document = {
      ...named("full"),
      metadata: {
        name: "full",
        version: "1.0.0",
        description: "d",
        tags: ["t"],
        labels: { role: "worker" },
        annotations: { a: "b" },
      },
    };
    const { body: deployed } = await fixture.deploy(token, document);
    fixture.counts.set(`${tenant} ${deployed.id}`, 3);
    const { status, body } = await fixture.call(token, `/v1/agents/${deployed.id}`);
    expect(status).toBe(200);
    expect(misfits(AgentDetail, body)).toEqual([]);
    expect(body).toMatchObject({
      id: deployed.id,
      agent_id: deployed.id,
      description: "d",
      agent_type: "worker",
      capability_tags: ["t"],
      labels: { role: "worker" },
      annotations: { a: "b" },
      execution_count: 3,
      input_schema: null,
      scope: "tenant",
      status: "active",
      manifest: document,
    });
    expect(Object.keys(body.manifest)).toEqual(Object.keys(document));
    for (const time of [body.created_at, body.updated_at, body.deployed_at])
      expect(new Date(time).toISOString()).toBe(time);
  });

  test("by version: its latest revision; an unknown one is 404", async () => {
    const { token } = newTenant();
    const { body } = await fixture.deploy(token, named("hist"));
    await fixture.deploy(token, { ...named("hist"), x: 1 }, "?force=true");
    await fixture.deploy(token, named("hist", "2.0.0"));
    const at = async (version: string) => (await fixture.call(token, `/v1/agents/${body.id}${version}`)).body;
    expect(await at("")).toMatchObject({ version: "2.0.0", revision: 1 });
    expect(await at("?version=1.0.0")).toMatchObject({ version: "1.0.0", revision: 2, manifest: { x: 1 } });
    expect(await at("?version=9")).toMatchObject({ code: "agent_version_not_found" });
  });

  test.each([
    ["application/json, text/plain, */*", null],
    ["*/*", null],
    ["application/yaml", "application/yaml"],
    ["text/plain", "text/plain"],
    ["text/*;q=0.9, application/json;q=0.8", "application/yaml"],
    ["application/yaml;q=0.5, application/json", null],
  ])("Accept: %s", async (accept, type) => {
    const { token } = newTenant();
    const text = stringify(named("neg"));
    const { body } = await fixture.deploy(token, text, "", "application/yaml");
    const answer = await fixture.call(token, `/v1/agents/${body.id}`, { accept });
    if (type === null) expect(answer.body.name).toBe("neg");
    else {
      expect(answer.text).toBe(text);
      expect(answer.headers.get("content-type")).toMatch(/^(application\/yaml|text\/)/);
    }
  });

  test("environment values are for deployers only, in every rendering", async () => {
    const { tenant, token } = newTenant();
    const document = { ...manifestWith("spec.env", { KEY: "hush-1" }), environment: { OTHER: "hush-2" } };
    const { body } = await fixture.deploy(token, stringify(document), "", "application/yaml");
    const reader = caller(tenant, { scopes: new Set(["agent:read", "agent:list"]) });
    expect((await fixture.call(token, `/v1/agents/${body.id}`)).text).toContain("hush-1");
    for (const path of [
      `/v1/agents/${body.id}`,
      `/v1/agents/${body.id}/versions`,
      "/v1/agents/lookup/greeter",
      "/v1/agents",
    ]) {
      const { text, status } = await fixture.call(reader, path);
      expect(status).toBe(200);
      expect(text).not.toContain("hush");
    }
    const yaml = await fixture.call(reader, `/v1/agents/${body.id}`, { accept: "application/yaml" });
    expect(yaml.text).toContain("KEY");
    expect(yaml.text).not.toContain("hush");
  });

  test("versions, newest first", async () => {
    const { token } = newTenant();
    const { body } = await fixture.deploy(token, named("many"));
    await fixture.deploy(token, named("many", "2.0.0"));
    await fixture.deploy(token, named("many"), "?force=true");
    const list = async (query = "") => (await fixture.call(token, `/v1/agents/${body.id}/versions${query}`)).body;
    const latest = await list();
    expect(latest.versions).toEqual(latest.items);
    for (const element of latest.items) expect(misfits(VersionElement, element)).toEqual([]);
    const shown = (answer: { items: { version: string; revision: number; current: boolean }[] }) =>
      answer.items.map((item) => `${item.version} r${item.revision}${item.current ? " current" : ""}`);
    expect(shown(latest)).toEqual(["1.0.0 r2 current", "2.0.0 r1"]);
    expect(shown(await list("?revisions=true"))).toEqual(["1.0.0 r2 current", "2.0.0 r1", "1.0.0 r1"]);
    expect(shown(await list("?revisions=true&limit=1&offset=1"))).toEqual(["2.0.0 r1"]);
    expect(await list("?limit=0")).toMatchObject({ code: "validation_failed" });
  });

  test("lookup: the tenant's own agent shadows a global one", async () => {
    const { token } = newTenant();
    const system = caller("svc-system", { kind: "operator", role: "admin" });
    const { body: common } = await fixture.deploy(system, named("shared"));
    await fixture.sql`update agents set scope = 'global' where agent_id = ${common.id}`;
    const seen = await fixture.call(token, "/v1/agents/lookup/shared");
    expect(seen.body).toMatchObject({ id: common.id, tenant_id: "svc-system", scope: "global", execution_count: 0 });
    expect((await fixture.call(token, `/v1/agents/${common.id}`)).status).toBe(200);
    expect((await fixture.call(token, "/v1/agents")).body.count).toBe(1);
    expect((await fixture.call(token, "/v1/agents?visible=false")).body.count).toBe(0);
    const removal = await fixture.call(token, `/v1/agents/${common.id}`, { method: "DELETE" });
    expect([removal.status, removal.body.code]).toEqual([403, "global_scope_forbidden"]);
    const { body: own } = await fixture.deploy(token, named("shared"));
    expect((await fixture.call(token, "/v1/agents/lookup/shared")).body.id).toBe(own.id);
    await fixture.sql`update agents set scope = 'tenant' where agent_id = ${common.id}`;
  });

  test.each([
    ["/v1/agents/abc", 400, "Invalid agent ID", "invalid_agent_id"],
    ["/v1/agents/abc/versions", 400, "Invalid agent ID", "invalid_agent_id"],
    [`/v1/agents/${unknownId}`, 404, "Agent not found", "agent_not_found"],
    [`/v1/agents/${unknownId}?version=1`, 404, "Agent not found", "agent_not_found"],
    [`/v1/agents/${unknownId}/versions`, 404, "Agent not found", "agent_not_found"],
    ["/v1/agents/lookup/nobody", 404, "Agent not found", "agent_not_found"],
    [`/v1/agents/lookup/${"x".repeat(5000)}`, 404, "Agent not found", "agent_not_found"],
  ])("%s", async (path, status, error, code) => {
    const answer = await fixture.call(newTenant().token, path);
    expect([answer.status, answer.body.error, answer.body.code]).toEqual([status, error, code]);
  });

  test("what is another tenant's is unknown, word for word", async () => {
    const owner = newTenant();
    const stranger = newTenant();
    const { body } = await fixture.deploy(owner.token, named("private"));
    const routes = [
      ["GET", "/v1/agents/ID"],
      ["GET", "/v1/agents/ID/versions"],
      ["DELETE", "/v1/agents/ID"],
      ["GET", "/v1/agents/ID?version=1.0.0"],
    ] as const;
    for (const [method, path] of routes) {
      const foreign = await fixture.call(stranger.token, path.replace("ID", body.id), { method });
      const unknown = await fixture.call(stranger.token, path.replace("ID", unknownId), { method });
      expect(foreign.status).toBe(404);
      expect({ ...foreign.body, request_id: "" }).toEqual({ ...unknown.body, request_id: "" });
    }
    expect((await fixture.call(stranger.token, "/v1/agents/lookup/private")).status).toBe(404);
    expect((await fixture.call(owner.token, `/v1/agents/${body.id}`)).status).toBe(200);
  });
});

describe("list", () => {
  test("names ascending, complete elements, equal aliases", async () => {
    const { token } = newTenant();
    for (const name of ["b", "a", "c-1", "c"]) await fixture.deploy(token, named(name));
    const { body } = await fixture.call(token, "/v1/agents");
    expect(body.agents.map((agent: { name: string }) => agent.name)).toEqual(["a", "b", "c", "c-1"]);
    expect(body.agents).toEqual(body.items);
    expect([body.count, body.next_cursor]).toEqual([4, null]);
    expect(misfits(Type.Array(AgentElement), body.items)).toEqual([]);
    for (const key of ["agent_id", "id", "name", "tenant_id", "version", "status", "created_at"]) {
      expect(typeof body.items[0][key]).toBe("string");
    }
    expect(body.items[0]).not.toHaveProperty("manifest");
  });

  test("pages by cursor and by offset", async () => {
    const { token } = newTenant();
    const names = ["a", "b", "c", "d", "e"];
    for (const name of names) await fixture.deploy(token, named(name));
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await fixture.call(token, `/v1/agents?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.items.map((agent: { name: string }) => agent.name));
      cursor = body.next_cursor ?? "";
    } while (cursor);
    expect(seen).toEqual(names);
    const { body } = await fixture.call(token, "/v1/agents?limit=2&offset=3");
    expect(body.items.map((agent: { name: string }) => agent.name)).toEqual(["d", "e"]);
    for (const bad of ["nonsense", "W10", Buffer.from('["\\u0000","x"]').toString("base64url")]) {
      expect((await fixture.call(token, `/v1/agents?cursor=${bad}`)).body.code).toBe("validation_failed");
    }
  });

  test("filters", async () => {
    const { token } = newTenant();
    const labelled = (name: string, labels: Record<string, string>, description: string) =>
      fixture.deploy(token, { ...named(name), metadata: { name, version: "1.0.0", labels, description } });
    await labelled("one", { role: "worker", team: "x" }, "counts 100% of it");
    await labelled("two", { role: "worker", team: "y=z" }, "under_score");
    const { body: three } = await labelled("three", {}, "plain");
    await fixture.sql`update agents set status = 'archived' where agent_id = ${three.id}`;
    const names = async (query: string) =>
      (await fixture.call(token, `/v1/agents?${query}`)).body.items.map((agent: { name: string }) => agent.name);
    expect(await names("")).toEqual(["one", "two"]);
    expect(await names("status=archived")).toEqual(["three"]);
    expect(await names("status=paused")).toEqual([]);
    expect(await names("label=role=worker")).toEqual(["one", "two"]);
    expect(await names("label=role=worker&label=team=x")).toEqual(["one"]);
    expect(await names("label=team=y%3Dz")).toEqual(["two"]);
    expect(await names("agent_type=worker")).toEqual(["one", "two"]);
    expect(await names("agent_type=standard&status=archived")).toEqual(["three"]);
    expect(await names("q=TW")).toEqual(["two"]);
    expect(await names("q=100%25")).toEqual(["one"]);
    expect(await names("q=r_s")).toEqual(["two"]);
    for (const wildcard of ["q=%5C", "q=c%25s", "q=tw_"]) expect(await names(wildcard)).toEqual([]);
    expect(await names("scope=global")).toEqual([]);
    expect(await names("scope=tenant")).toEqual(["one", "two"]);
  });

  test.each([
    ["label=novalue"],
    ["label==x"],
    ["status=asleep"],
    ["visible=maybe"],
    ["limit=501"],
    ["limit=x"],
    ["offset=-1"],
    ["q=%00"],
  ])("%s is 422", async (query) => {
    const { status, body } = await fixture.call(newTenant().token, `/v1/agents?${query}`);
    expect([status, body.code]).toEqual([422, "validation_failed"]);
  });
});
