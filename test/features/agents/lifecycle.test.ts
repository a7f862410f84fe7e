/** What happens to an agent after its first deploy, over real stores (docs/reference/agents.md). */
import { afterAll, describe, expect, test } from "bun:test";
import { stringify } from "yaml";
import type { Json } from "../../../actors/kernel/json.ts";
import { eraseHistories } from "../../../src/features/agents/events.ts";
import { manifestWith } from "../../actors/agent/offer.ts";
import { until } from "../../harness/until.ts";
import {
  acting,
  allScopes,
  type CallOptions,
  caller,
  named,
  newName,
  newTenant,
  openFixture,
  publisher,
  unknownId,
} from "./fixture.ts";

const fixture = await openFixture();
const { post, patch, read, deployed, history, told } = acting(fixture);
afterAll(() => fixture.dispose());

describe("patch", () => {
  test("one field keeps the rest and makes a revision", async () => {
    const { token, id, name } = await deployed();
    const { status, body } = await patch(token, id, { description: "sorts parcels" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      warnings: [],
      id,
      name,
      version: "1.0.0",
      revision: 2,
      description: "sorts parcels",
      manifest: { spec: { task: { instruction: "Say hello." } }, metadata: { name, description: "sorts parcels" } },
    });
    expect(body.manifest_yaml).toContain("sorts parcels");
    const first = await fixture.call(token, `/v1/agents/${id}/versions?revisions=true`);
    expect(first.body.items.map((item: { revision: number }) => item.revision)).toEqual([2, 1]);
  });

  test("a merge patch, and one in YAML", async () => {
    const { token, id } = await deployed();
    const merged = await patch(
      token,
      id,
      { spec: { task: { instruction: "Say goodbye." } } },
      "",
      "application/merge-patch+json",
    );
    expect(merged.body.manifest.spec).toEqual({
      runtime: { language: "python", version: "3.12" },
      task: { instruction: "Say goodbye." },
    });
    const text = "spec: {runtime: {version: 3.10}}\n";
    const yaml = await patch(token, id, text, "", "application/yaml");
    const flat = await patch(token, id, "labels: {zip: 01010, sure: yes}\n", "", "text/yaml");
    expect(flat.body.labels).toEqual({ zip: "01010", sure: "yes" });
    expect(yaml.body).toMatchObject({ revision: 3, manifest: { spec: { runtime: { version: "3.10" } } } });
  });

  test("a whole manifest, kept as it was sent; a new version of it", async () => {
    const { token, id, name } = await deployed();
    const text = stringify(named(name, "2.0.0"));
    const { body } = await patch(token, id, text, "", "application/yaml");
    expect(body).toMatchObject({ version: "2.0.0", revision: 1, manifest_yaml: text });
    const again = await patch(token, id, { metadata: { version: "1.0.0" } });
    expect([again.status, again.body.code]).toEqual([409, "agent_version_exists"]);
    expect(again.body).toMatchObject({ agent_id: id, version: "1.0.0" });
  });

  test("the outcome is judged as a whole, and nothing is stored when it is bad", async () => {
    const { token, id, name } = await deployed();
    const rows: readonly (readonly [body: Json, status: number, code: string])[] = [
      [{ metadata: { name: "other" } }, 422, "immutable_field"],
      [{ name: "other" }, 422, "immutable_field"],
      [{ spec: null }, 422, "invalid_manifest"],
      [{ spec: { runtime: { isolation: "firecracker" } } }, 422, "unsupported_isolation"],
      [{ status: "asleep" }, 422, "validation_failed"],
      [[], 422, "validation_failed"],
      [{ labels: { a: 1 } }, 422, "invalid_manifest"],
      [{ description: "a\0b" }, 422, "invalid_manifest"],
    ];
    for (const [body, status, code] of rows) {
      const answer = await patch(token, id, JSON.stringify(body));
      expect([JSON.stringify(body), answer.status, answer.body.code]).toEqual([JSON.stringify(body), status, code]);
    }
    expect((await patch(token, id, "{", "")).body.code).toBe("malformed_body");
    expect((await patch(token, id, "<a/>", "", "application/xml")).status).toBe(415);
    expect(await read(token, id)).toMatchObject({ name, revision: 1 });
    expect(await told(id)).toEqual(["agent_deployed"]);
  });

  test("a dry run says the same and stores nothing", async () => {
    const { token, id, name } = await deployed();
    const dry = await patch(token, id, { description: "d", colour: 1 }, "?dry_run=true");
    expect(dry.body).toMatchObject({
      valid: true,
      dry_run: true,
      action: "overwrite",
      name,
      version: "1.0.0",
      manifest: { metadata: { description: "d" } },
      warnings: [{ path: "colour", code: "unknown_field" }],
    });
    const newer = await patch(token, id, { metadata: { version: "2.0.0" }, status: "paused" }, "?dry_run=true");
    expect(newer.body).toMatchObject({ action: "new_version", version: "2.0.0" });
    expect((await patch(token, id, { metadata: { name: "x" } }, "?dry_run=true")).body.code).toBe("immutable_field");
    expect(await read(token, id)).toMatchObject({ revision: 1, status: "active" });
    expect(await told(id)).toEqual(["agent_deployed"]);
  });

  test("a status alone makes no revision; with a field both happen", async () => {
    const { token, tenant, id } = await deployed();
    expect((await patch(token, id, { status: "paused" })).body).toMatchObject({ status: "paused", revision: 1 });
    const both = await patch(token, id, { status: "active", tags: ["t"] });
    expect(both.body).toMatchObject({ status: "active", revision: 2, capability_tags: ["t"] });
    expect(await told(id)).toEqual(["agent_deployed", "agent_paused", "agent_updated", "agent_resumed"]);
    expect(fixture.told.filter((line) => line.endsWith(id))).toEqual(
      ["deployed", "paused", "updated", "resumed"].map((what) => `${what} ${tenant} ${id}`),
    );
  });

  test("patches at once are all applied", async () => {
    const { token, id } = await deployed();
    const answers = await Promise.all(["a", "b", "c", "d"].map((key) => patch(token, id, { labels: { [key]: "1" } })));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
    expect(await read(token, id)).toMatchObject({ revision: 5, labels: { a: "1", b: "1", c: "1", d: "1" } });
    await history(id);
  });

  test("keeps values that look like objects' own members", async () => {
    const { token, id } = await deployed();
    const body = '{"labels":{"__proto__":"x","constructor":"y"}}';
    expect((await patch(token, id, body)).status).toBe(200);
    const { text } = await fixture.call(token, `/v1/agents/${id}`);
    expect(text).toContain('"__proto__":"x"');
  });
});

describe("pause, resume, archive", () => {
  const start = (tenant: string, id: string) =>
    fixture.agents.resolveForExecution({ tenant, agentId: id }).then(
      () => "started",
      (error) => error.code,
    );

  test("a paused agent is not executed; a repeat is no change", async () => {
    const { token, tenant, id } = await deployed();
    for (const _ of [1, 2]) {
      const { status, body } = await post(token, `${id}/pause`);
      expect([status, body.status]).toEqual([200, "paused"]);
    }
    expect(await start(tenant, id)).toBe("agent_paused");
    for (const _ of [1, 2]) expect((await post(token, `${id}/resume`)).body.status).toBe("active");
    expect(await start(tenant, id)).toBe("started");
    expect(await told(id)).toEqual(["agent_deployed", "agent_paused", "agent_resumed"]);
  });

  test("an archived agent is hidden from lists, cannot be paused, and comes back", async () => {
    const { token, tenant, id, name } = await deployed();
    expect((await patch(token, id, { status: "archived" })).body.status).toBe("archived");
    const listed = async (query: string) =>
      (await fixture.call(token, `/v1/agents?visible=false${query}`)).body.items.map(
        (item: { name: string }) => item.name,
      );
    expect(await listed("")).toEqual([]);
    expect(await listed("&status=archived")).toEqual([name]);
    expect(await start(tenant, id)).toBe("agent_archived");
    const paused = await post(token, `${id}/pause`);
    expect([paused.status, paused.body.code]).toEqual([409, "agent_archived"]);
    expect((await patch(token, id, { status: "paused" })).body.code).toBe("agent_archived");
    expect((await post(token, `${id}/resume`)).body.status).toBe("active");
    expect(await listed("")).toEqual([name]);
  });

  test("archived agents still count in the quota", async () => {
    const token = caller("u-archive", { kind: "consumer", tier: "free" });
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await fixture.deploy(token, named(newName()))).body.id);
    await patch(token, ids[0]!, { status: "archived" });
    expect((await fixture.deploy(token, named(newName()))).body).toMatchObject({ code: "quota_exceeded", used: 5 });
  });

  test("a deploy keeps the status", async () => {
    const { token, id, name } = await deployed();
    await post(token, `${id}/pause`);
    expect((await fixture.deploy(token, named(name, "2.0.0"))).body).toMatchObject({ id, status: "paused" });
  });
});

describe("rollback", () => {
  const runs = async (tenant: string, id: string, version?: string) => {
    const agent = await fixture.agents.resolveForExecution({ tenant, agentId: id, ...(version ? { version } : {}) });
    return `${agent.version} r${agent.revision}`;
  };

  test("to what was current before, and back again", async () => {
    const { token, tenant, id } = await deployed(["1.0.0", "2.0.0"]);
    expect((await post(token, `${id}/rollback`)).body).toMatchObject({ version: "1.0.0", revision: 1 });
    expect(await runs(tenant, id)).toBe("1.0.0 r1");
    expect(await runs(tenant, id, "2.0.0")).toBe("2.0.0 r1");
    expect((await post(token, `${id}/rollback`, {})).body.version).toBe("2.0.0");
    expect((await fixture.call(token, `/v1/agents/${id}/versions`)).body.count).toBe(2);
    expect((await history(id)).at(-1)).toMatchObject({
      type: "agent_updated",
      body: { old_version: "1.0.0", new_version: "2.0.0", version: "2.0.0", revision: 1, reason: "rollback" },
    });
  });

  test("to a version, its latest revision or the one named; by revision alone", async () => {
    const { token, tenant, id, name } = await deployed(["1.0.0"]);
    await fixture.deploy(token, { ...named(name), x: 1 }, "?force=true");
    await fixture.deploy(token, named(name, "2.0.0"));
    await post(token, `${id}/rollback`, { version: "1.0.0" });
    expect(await runs(tenant, id)).toBe("1.0.0 r2");
    await post(token, `${id}/rollback`, { revision: 1 });
    expect(await runs(tenant, id)).toBe("1.0.0 r1");
    await post(token, `${id}/rollback`, { version: "1.0.0", revision: 2 });
    expect(await runs(tenant, id)).toBe("1.0.0 r2");
    // A forced deploy never reuses a number, whatever is current.
    await post(token, `${id}/rollback`, { revision: 1 });
    expect((await patch(token, id, { description: "d" })).body.revision).toBe(3);
  });

  test.each([
    [{ version: "9.9.9" }, 404, "agent_version_not_found"],
    [{ version: "1.0.0", revision: 9 }, 404, "agent_version_not_found"],
    [{ revision: 9 }, 404, "agent_version_not_found"],
    [undefined, 404, "agent_version_not_found"],
    [{ version: "1.0.0" }, 409, "already_current"],
    [{ revision: 1 }, 409, "already_current"],
    [{ version: "" }, 422, "validation_failed"],
    [{ version: "1\0" }, 422, "validation_failed"],
    [{ revision: 0 }, 422, "validation_failed"],
    [{ revision: 1e12 }, 422, "validation_failed"],
    [[], 422, "validation_failed"],
  ] as const)("%j is %i %s", async (body, status, code) => {
    const { token, id } = await deployed();
    const answer = await post(token, `${id}/rollback`, body as CallOptions["body"]);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await told(id)).toEqual(["agent_deployed"]);
  });
});

describe("judges", () => {
  const judged = (judge: string) =>
    named(newName(), "1.0.0", {
      execution: { validation: [{ type: "semantic", judge_agent: judge, criteria: "good" }] },
    });

  test("an unknown one is a warning, a known or a global one is not", async () => {
    const { token } = newTenant();
    const missing = await fixture.deploy(token, judged("nobody-at-all"));
    expect(missing.body.warnings).toMatchObject([
      { path: "spec.execution.validation.0.judge_agent", code: "judge_not_found" },
    ]);
    const own = newName();
    const { body: ours } = await fixture.deploy(token, named(own));
    expect((await fixture.deploy(token, judged(own))).body.warnings).toEqual([]);
    expect((await fixture.deploy(token, judged(ours.id))).body.warnings).toEqual([]);
    expect((await fixture.deploy(newTenant().token, judged(ours.id))).body.warnings).toHaveLength(1);
    const common = newName();
    await fixture.deploy(publisher(), named(common), "?scope=global");
    expect((await fixture.deploy(token, judged(common), "?dry_run=true")).body.warnings).toEqual([]);
    const foreign = await deployed();
    expect((await fixture.deploy(token, judged(foreign.name))).body.warnings).toHaveLength(1);
  });
});

describe("events", () => {
  test("each change is told once, with what it changed", async () => {
    const { token, tenant, id, name } = await deployed(["1.0.0", "2.0.0"]);
    await fixture.deploy(token, named(name, "2.0.0"), "?force=true");
    await patch(token, id, { description: "d" });
    await fixture.call(token, `/v1/agents/${id}`, { method: "DELETE" });
    const rows = await history(id);
    expect(
      rows.map(({ type, body }) => [type, body.old_version, body.new_version, body.revision, body.reason]),
    ).toEqual([
      ["agent_deployed", undefined, undefined, 1, undefined],
      ["agent_updated", "1.0.0", "2.0.0", 1, "deploy"],
      ["agent_updated", "2.0.0", "2.0.0", 2, "deploy"],
      ["agent_updated", "2.0.0", "2.0.0", 3, "patch"],
      ["agent_removed", undefined, undefined, undefined, undefined],
    ]);
    for (const { body } of rows) {
      expect(body).toMatchObject({ agent_id: id, name });
      expect(new Date(String(body.occurred_at)).toISOString()).toBe(String(body.occurred_at));
    }
    expect(rows.every((row) => row.tenant === tenant)).toBe(true);
  });

  test("what is refused is not told", async () => {
    const { token, id, name } = await deployed();
    await fixture.deploy(token, named(name));
    await fixture.deploy(token, named(name, "2.0.0"), "?dry_run=true");
    await patch(token, id, { metadata: { name: "x" } });
    expect(await told(id)).toEqual(["agent_deployed"]);
  });

  test("numbers stay without gaps when changes come at once", async () => {
    const { token, id, name } = await deployed();
    await Promise.all([
      ...Array.from({ length: 6 }, (_, i) => fixture.deploy(token, named(name, `2.0.${i}`))),
      ...Array.from({ length: 3 }, () => post(token, `${id}/pause`)),
      ...Array.from({ length: 3 }, () => post(token, `${id}/resume`)),
    ]);
    expect((await history(id)).length).toBeGreaterThanOrEqual(7);
  });
});

test("an agent stored before manifests could say more is read and run", async () => {
  const { token, tenant, id } = await deployed();
  await fixture.sql`
    update agent_versions set spec = (spec::jsonb - 'context' - 'volumes' - 'schedule' - 'output_handler'
      - 'warm_pool_size' - 'swarm' #- '{execution,tool_judges}' #- '{execution,deliveries}')::json
    where agent_id = ${id}`;
  const { spec } = await fixture.agents.resolveForExecution({ tenant, agentId: id });
  expect(spec).toMatchObject({ volumes: [], schedule: null, execution: { tool_judges: [], deliveries: [] } });
  expect((await read(token, id)).id).toBe(id);
});

const routes = [
  ["PATCH", "", { description: "x" }],
  ["POST", "/scope", { scope: "global" }],
  ["PATCH", "/scope", { scope: "global" }],
  ["POST", "/pause", undefined],
  ["POST", "/resume", undefined],
  ["POST", "/rollback", undefined],
] as const;

test.each(routes)("%s …%s: scope, ids, and what is another tenant's", async (method, path, body) => {
  const { id } = await deployed();
  const stranger = newTenant().token;
  const call = (token: string, agent: string) =>
    fixture.call(token, `/v1/agents/${agent}${path}`, { method, ...(body === undefined ? {} : { body }) });
  const foreign = await call(stranger, id);
  const unknown = await call(stranger, unknownId);
  expect([foreign.status, foreign.body.error, foreign.body.code]).toEqual([404, "Agent not found", "agent_not_found"]);
  expect({ ...foreign.body, request_id: "" }).toEqual({ ...unknown.body, request_id: "" });
  const bad = await call(stranger, "abc");
  expect([bad.status, bad.body.error, bad.body.code]).toEqual([400, "Invalid agent ID", "invalid_agent_id"]);
  const reader = caller("team-readers", { scopes: new Set(allScopes.filter((scope) => scope !== "agent:deploy")) });
  expect((await call(reader, id)).body).toMatchObject({ code: "insufficient_scope", required: "agent:deploy" });
});

test("ids are read without regard to case", async () => {
  const { token, tenant, id } = await deployed();
  expect((await post(token, `${id.toUpperCase()}/pause`)).body.status).toBe("paused");
  expect(fixture.told).toContain(`paused ${tenant} ${id}`);
});

test("a manifest no node offers is refused", async () => {
  const { token } = newTenant();
  const answer = await fixture.deploy(token, manifestWith("spec.runtime.isolation", "firecracker"));
  expect([answer.status, answer.body.code]).toEqual([422, "unsupported_isolation"]);
});

test("the history of a deleted agent goes by age, that of a living one stays", async () => {
  const [living, gone] = [await deployed(), await deployed()];
  expect((await fixture.call(gone.token, `/v1/agents/${gone.id}`, { method: "DELETE" })).status).toBe(200);
  await until(async () => (await fixture.sql`select from agents where agent_id = ${gone.id}`).length === 0, {
    what: "the agent to go",
  });
  expect(await told(gone.id)).toContain("agent_removed");
  const heads = async () =>
    (await fixture.sql`select from agent_event_heads where agent_id in (${gone.id}, ${living.id})`).length;
  expect(await eraseHistories(fixture.sql, new Date(0), 1000)).toBe(0);
  expect(await heads()).toBe(2);
  // In two portions; the number given last goes with the last entry.
  const later = new Date(Date.now() + 86_400_000);
  expect(await eraseHistories(fixture.sql, later, 1)).toBe(1);
  expect(await heads()).toBe(2);
  await eraseHistories(fixture.sql, later, 1000);
  expect([await told(gone.id), await heads()]).toEqual([[], 1]);
  expect(await told(living.id)).not.toEqual([]);
});
