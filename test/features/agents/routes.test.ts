/** The routes of agents over real stores (docs/reference/agents.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { stringify } from "yaml";
import { agentSchema } from "../../../actors/agent/manifest/manifest.ts";
import { Deployed } from "../../../src/features/agents/schema.ts";
import { manifest, manifestWith } from "../../actors/agent/offer.ts";
import { allScopes, caller, misfits, named, newTenant, openFixture, unknownId } from "./fixture.ts";

let fixture: Awaited<ReturnType<typeof openFixture>>;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.dispose());

test("the manifests' JSON Schema is served without a token", async () => {
  const { status, headers, body } = await fixture.call("no token", "/schemas/agent.json");
  expect(status).toBe(200);
  expect(headers.get("cache-control")).toBe("public, max-age=3600");
  expect(body).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" });
  expect(body).toEqual(JSON.parse(JSON.stringify(agentSchema)));
});

describe("deploy", () => {
  test.each([
    ["YAML", stringify(named("by-yaml")), "application/yaml"],
    ["YAML as plain text", stringify(named("by-text")), "text/plain"],
    ["JSON", named("by-json"), "application/json"],
    ["JSON without a type", named("by-braces"), null],
    ["wrapped object", { manifest: named("by-object") }, "application/json"],
    ["wrapped text", { manifest_yaml: stringify(named("by-wrap")) }, "application/json"],
  ])("as %s", async (_what, body, type) => {
    const { tenant, token } = newTenant();
    const { status, body: answer } = await fixture.deploy(token, body, "", type);
    expect(status).toBe(200);
    expect(misfits(Deployed, answer)).toEqual([]);
    expect(answer).toMatchObject({
      tenant_id: tenant,
      version: "1.0.0",
      revision: 1,
      created: true,
      status: "active",
      warnings: [],
    });
    expect(answer.id).toBe(answer.agent_id);
    expect(new Date(answer.deployed_at).toISOString()).toBe(answer.deployed_at);
  });

  test("both API versions, and no third", async () => {
    const { token } = newTenant();
    const answers = await Promise.all(
      ["svc.dev/v1", "100monkeys.ai/v1", "svc.dev/v2"].map((apiVersion, i) =>
        fixture.deploy(token, { ...named(`api-${i}`), apiVersion }),
      ),
    );
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [200, undefined],
      [200, undefined],
      [422, "unsupported_api_version"],
    ]);
  });

  test("three faults are three issues, and nothing is stored", async () => {
    const { token } = newTenant();
    const broken = { ...manifestWith("spec.tools", 7), metadata: { name: "NO", version: "1.0.0" }, kind: "Robot" };
    const { status, body } = await fixture.deploy(token, broken);
    expect([status, body.code, body.issues.length]).toEqual([422, "invalid_manifest", 3]);
    expect((await fixture.call(token, "/v1/agents")).body.count).toBe(0);
  });

  test("an unquoted runtime version is kept as written", async () => {
    const { token } = newTenant();
    const text =
      "apiVersion: svc.dev/v1\nkind: Agent\nmetadata: {name: p, version: 1.10}\nspec:\n  runtime: {language: python, version: 3.10}\n  task: {instruction: Go}\n";
    const { body } = await fixture.deploy(token, text, "", "application/yaml");
    expect(body.version).toBe("1.10");
    const detail = await fixture.call(token, `/v1/agents/${body.id}`);
    expect(detail.body.manifest.spec.runtime.version).toBe("3.10");
    expect(detail.body.manifest_yaml).toBe(text);
  });

  test("the same version again is a conflict, unless forced", async () => {
    const { token } = newTenant();
    const first = await fixture.deploy(token, named("twice"));
    const again = await fixture.deploy(token, named("twice"));
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ code: "agent_version_exists", agent_id: first.body.id, version: "1.0.0" });
    const forced = await fixture.deploy(token, named("twice"), "?force=true");
    expect(forced.body).toMatchObject({ id: first.body.id, revision: 2, created: false });
    const newer = await fixture.deploy(token, named("twice", "2.0.0"));
    expect(newer.body).toMatchObject({ id: first.body.id, revision: 1, created: false });
  });

  test("deploys of one version at once: one wins, none fails", async () => {
    const { token } = newTenant();
    const answers = await Promise.all(Array.from({ length: 12 }, () => fixture.deploy(token, named("race"))));
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, ...Array(11).fill(409)]);
    const forced = await Promise.all(
      Array.from({ length: 12 }, () => fixture.deploy(token, named("race"), "?force=true")),
    );
    expect(forced.map((answer) => answer.body.revision).toSorted((a, b) => a - b)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
    ]);
  });

  test("deploys and deletes of one name at once end in answers, not faults", async () => {
    const { token } = newTenant();
    const rounds = Array.from({ length: 10 }, async () => {
      const { status, body } = await fixture.deploy(token, named("churn"), "?force=true");
      const removed = await fixture.call(token, `/v1/agents/${body.id}`, { method: "DELETE" });
      return [status, removed.status];
    });
    for (const [deployed, removed] of await Promise.all(rounds)) {
      expect(deployed).toBe(200);
      expect([200, 404]).toContain(removed!);
    }
  });

  test("the plan bounds agents, not versions; deploys at once do not slip through", async () => {
    const token = caller("u-1", { kind: "consumer", tier: "free" });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => fixture.deploy(token, named(`a-${i}`))));
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 200, 200, 200, 200, 402, 402, 402]);
    const refused = answers.find((answer) => answer.status === 402)!;
    expect(refused.body).toMatchObject({
      code: "quota_exceeded",
      quota: "max_agents",
      limit: 5,
      used: 5,
      tier: "free",
    });
    const { name } = answers.find((answer) => answer.status === 200)!.body;
    expect((await fixture.deploy(token, named(name, "2.0.0"))).status).toBe(200);
    expect((await fixture.deploy(token, named(name, "2.0.0"))).status).toBe(409);
    expect((await fixture.deploy(token, named("one-more"), "?dry_run=true")).status).toBe(402);
  });

  test("a dry run tells and stores nothing", async () => {
    const { token } = newTenant();
    const draft = { ...named("draft"), colour: "red" };
    const dry = await fixture.deploy(token, draft, "?dry_run=true");
    expect(dry.body).toEqual({
      valid: true,
      dry_run: true,
      action: "create",
      name: "draft",
      version: "1.0.0",
      manifest: draft,
      warnings: [{ path: "colour", code: "unknown_field", message: expect.any(String) }],
    });
    expect((await fixture.call(token, "/v1/agents")).body.count).toBe(0);
    await fixture.deploy(token, draft);
    expect((await fixture.deploy(token, draft, "?dry_run=true")).status).toBe(409);
    expect((await fixture.deploy(token, draft, "?dry_run=true&force=true")).body.action).toBe("overwrite");
    expect((await fixture.deploy(token, named("draft", "2.0.0"), "?dry_run=true")).body.action).toBe("new_version");
    const { body } = await fixture.call(token, "/v1/agents/lookup/draft");
    expect([body.version, body.revision]).toEqual(["1.0.0", 1]);
  });

  test("global deploys by others than global publishers are refused", async () => {
    const consumer = caller("u-2", { kind: "consumer" });
    expect((await fixture.deploy(consumer, named("g"), "?scope=global")).body.code).toBe("global_scope_forbidden");
    const admin = caller("svc-system", { kind: "operator", role: "admin" });
    expect((await fixture.deploy(admin, named("g"), "?scope=galaxy")).body.code).toBe("validation_failed");
    expect((await fixture.deploy(consumer, {}, "?scope=global")).body.code).toBe("invalid_manifest");
  });

  test("needs the scope", async () => {
    const reader = caller("team-ro", { scopes: new Set(["agent:read", "agent:list"]) });
    expect((await fixture.deploy(reader, named("x"))).body).toMatchObject({
      code: "insufficient_scope",
      required: "agent:deploy",
    });
  });
});

describe("bad bodies", () => {
  const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    .concat([..."bcdefghi"].map((c, i) => `${c}: &${c} [${Array(9).fill(`*${"abcdefghi"[i]}`).join(",")}]`))
    .join("\n");
  const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`label-${i}`, "v"]));
  test.each([
    ["YAML bomb", bomb, "application/yaml", 400, "malformed_body"],
    ["malformed YAML", "a: [", "application/yaml", 400, "malformed_body"],
    ["malformed JSON", '{"a":', "application/json", 400, "malformed_body"],
    ["no body", undefined, null, 400, "malformed_body"],
    ["empty JSON body", "", "application/json", 400, "malformed_body"],
    ["no UTF-8", new Uint8Array([0xff, 0xfe, 0x41]), "application/yaml", 400, "malformed_body"],
    ["10 MB", `a: ${"x".repeat(10 * 1024 * 1024)}`, "application/yaml", 413, "body_too_large"],
    ["XML", "<a/>", "application/xml", 415, "unsupported_media_type"],
    ["form", "a=b", "application/x-www-form-urlencoded", 415, "unsupported_media_type"],
    ["10,000 labels", manifestWith("metadata.labels", labels), "application/json", 422, "invalid_manifest"],
    [
      "10,000 labels in YAML",
      stringify(manifestWith("metadata.labels", labels)),
      "application/yaml",
      422,
      "invalid_manifest",
    ],
    ["NUL in the prompt", manifestWith("spec.task.instruction", "a\0b"), "application/json", 422, "invalid_manifest"],
    ["NUL in YAML", `${stringify(manifest())}x: "a\\0b"\n`, "application/yaml", 422, "invalid_manifest"],
    ["raw NUL in YAML", `${stringify(manifest())}x: a\0b\n`, "application/yaml", 422, "invalid_manifest"],
    ["NUL in an unknown field", { ...manifest(), x: { y: "\0" } }, "application/json", 422, "invalid_manifest"],
    ["NUL in a key", { ...manifest(), "x\0": 1 }, "application/json", 422, "invalid_manifest"],
    ["half a surrogate pair", '{"x":"\\ud800"}', "application/json", 422, "invalid_manifest"],
    ["array", [], "application/json", 422, "invalid_manifest"],
    ["null", "null", "application/json", 422, "invalid_manifest"],
    ["nothing but a comment", "# hello", "application/yaml", 422, "invalid_manifest"],
  ])("%s", async (_what, body, type, status, code) => {
    const { token } = newTenant();
    const answer = await fixture.deploy(token, body, "", type);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(typeof answer.body.error).toBe("string");
    expect((await fixture.call(token, "/v1/agents")).body.count).toBe(0);
  });

  test("odd but harmless text is stored as it is", async () => {
    const { token } = newTenant();
    const odd = {
      ...named("odd"),
      x: ["\u0001", "\u2028", "'; drop table agents; --", "😀", { __proto__x: 1, constructor: 2 }],
    };
    const { body } = await fixture.deploy(token, odd);
    const detail = await fixture.call(token, `/v1/agents/${body.id}`);
    expect(detail.body.manifest).toEqual(odd);
  });
});

describe("delete", () => {
  test("cancels, frees the name, and is 404 the second time", async () => {
    const { tenant, token } = newTenant();
    const { body } = await fixture.deploy(token, named("gone"));
    const removed = await fixture.call(token, `/v1/agents/${body.id}`, { method: "DELETE" });
    expect(removed.body).toEqual({ status: "deleted", success: true, id: body.id, agent_id: body.id });
    expect(fixture.cancelled).toContain(`${tenant} ${body.id} agent_deleted`);
    expect((await fixture.call(token, `/v1/agents/${body.id}`, { method: "DELETE" })).status).toBe(404);
    expect((await fixture.call(token, `/v1/agents/${body.id}`)).status).toBe(404);
    const again = await fixture.deploy(token, named("gone"));
    expect(again.body).toMatchObject({ created: true, revision: 1 });
    expect(again.body.id).not.toBe(body.id);
  });

  test("a deletion cut short by a crash is ended later", async () => {
    const { tenant, token } = newTenant();
    const { body } = await fixture.deploy(token, named("half"));
    fixture.breakCancel(true);
    const broken = await fixture.call(token, `/v1/agents/${body.id}`, { method: "DELETE" });
    fixture.breakCancel(false);
    expect([broken.status, broken.body.code]).toEqual([500, "internal_error"]);
    expect((await fixture.call(token, `/v1/agents/${body.id}`)).status).toBe(404);
    expect((await fixture.deploy(token, named("half"))).body.created).toBe(true);
    await fixture.agents.resumeDeletions();
    expect(fixture.cancelled).toContain(`${tenant} ${body.id} agent_deleted`);
    expect(await fixture.sql`select 1 from agents where agent_id = ${body.id}`).toHaveLength(0);
    expect(await fixture.sql`select 1 from agent_versions where agent_id = ${body.id}`).toHaveLength(0);
  });
});

describe("resolving for an execution", () => {
  const problem = async (run: Promise<unknown>) =>
    run.then(
      () => "resolved",
      (error) => error.code,
    );

  test("the current version, an older one, and each refusal", async () => {
    const { tenant, token } = newTenant();
    const { body } = await fixture.deploy(token, named("runs"));
    await fixture.deploy(token, manifestNamed("runs", "2.0.0", "Second."));
    const resolve = (version?: string, by = tenant) =>
      fixture.agents.resolveForExecution({
        tenant: by,
        agentId: body.id,
        ...(version === undefined ? {} : { version }),
      });
    expect(await resolve()).toMatchObject({
      agent_id: body.id,
      version: "2.0.0",
      revision: 1,
      spec: { task: { instruction: "Second." } },
    });
    expect(await resolve("1.0.0")).toMatchObject({ version: "1.0.0", spec: { task: { instruction: "Say hello." } } });
    // From memory this time, and a forced deploy is still seen at once.
    await fixture.deploy(token, manifestNamed("runs", "2.0.0", "Third."), "?force=true");
    expect(await resolve()).toMatchObject({ revision: 2, spec: { task: { instruction: "Third." } } });
    expect(await problem(resolve("3"))).toBe("agent_version_not_found");
    expect(await problem(resolve(undefined, "somebody-else"))).toBe("agent_not_found");
    for (const status of ["paused", "archived"]) {
      await fixture.sql`update agents set status = ${status} where agent_id = ${body.id}`;
      expect(await problem(resolve())).toBe(`agent_${status}`);
    }
    await fixture.call(token, `/v1/agents/${body.id}`, { method: "DELETE" });
    expect(await problem(resolve())).toBe("agent_not_found");
  });

  function manifestNamed(name: string, version: string, instruction: string) {
    return { ...manifestWith("spec.task.instruction", instruction), metadata: { name, version } };
  }
});

test("runtimes and models", async () => {
  const { token } = newTenant();
  const runtimes = await fixture.call(token, "/v1/runtimes?language=go");
  expect(runtimes.body).toEqual({
    items: [
      { language: "go", version: "1.20", image: "golang:1.20-alpine", description: "Go 1.20", deprecated: false },
      { language: "go", version: "1.21", image: "golang:1.21-alpine", description: "Go 1.21", deprecated: false },
    ],
    count: 2,
  });
  expect((await fixture.call(token, "/v1/runtimes")).body.count).toBe(13);
  expect((await fixture.call(token, "/v1/models")).body).toEqual({
    items: [{ alias: "default", capabilities: ["tools"], context_window: null, max_output_tokens: 8192 }],
    count: 1,
  });
});

test("every route names its scope", async () => {
  const routes = [
    ["POST", "/v1/agents", "agent:deploy"],
    ["GET", "/v1/agents", "agent:list"],
    ["GET", `/v1/agents/${unknownId}`, "agent:read"],
    ["GET", "/v1/agents/lookup/x", "agent:read"],
    ["GET", `/v1/agents/${unknownId}/versions`, "agent:read"],
    ["DELETE", `/v1/agents/${unknownId}`, "agent:delete"],
    ["GET", "/v1/runtimes", "agent:read"],
    ["GET", "/v1/models", "agent:read"],
  ] as const;
  for (const [method, path, scope] of routes) {
    const token = caller("team-scopes", { scopes: new Set(allScopes.filter((known) => known !== scope)) });
    const { status, body } = await fixture.call(token, path, { method });
    expect([path, status, body.required]).toEqual([path, 403, scope]);
  }
});
