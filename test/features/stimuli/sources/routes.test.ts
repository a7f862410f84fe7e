/** The API of sources (docs/reference/stimuli.md). */
import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { caller } from "../../../harness/callers.ts";
import { newcomers, openFixture } from "./fixture.ts";

const fixture = await openFixture({ SVC_WEBHOOK_SECRET_CI: "environment-secret-of-ci" });
afterAll(() => fixture.dispose());
fixture.workflows.add("on-push");
const newcomer = newcomers(fixture);

const issuePaths = (body: { issues: { path: string }[] }) => body.issues.map(({ path }) => path);

test("a route gets defaults and a record of every field", async () => {
  const { tenant, call } = newcomer();
  const { status, body, headers } = await call("POST", "", { source: "GitHub.com" });
  expect(status).toBe(201);
  const { id } = body;
  expect(body).toEqual({
    id: expect.any(String),
    tenant_id: tenant,
    source: "github.com",
    workflow: null,
    workflow_version: null,
    enabled: true,
    signature: { preset: "svc", tolerance_seconds: 300 },
    generate_secret: false,
    replay_guard: false,
    require_timestamp: false,
    acknowledge: "routed",
    idempotency_fallback: "none",
    forward_headers: ["*"],
    events: [],
    match: null,
    rate_limit_per_minute: null,
    description: "",
    url: `https://svc.test/v1/webhooks/github.com/${id}`,
    bare_url: true,
    secret_source: "none",
    previous_secret_expires_at: null,
    last_received_at: null,
    ignored_count: 0,
    last_ignored: null,
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    created_by: { kind: "service_account", sub: `user-of-${tenant}` },
  });
  expect(headers.get("location")).toBe(`/v1/stimulus-routes/${id}`);
  expect((await call("GET", `/${id}`)).body).toEqual(body);
});

test("every field is stored as given", async () => {
  const { create } = newcomer();
  const route = await create({
    source: "github",
    workflow: "on-push",
    workflow_version: "1.0.0",
    enabled: false,
    signature: { preset: "github", tolerance_seconds: 60 },
    secret: "0123456789abcdef",
    acknowledge: "received",
    idempotency_fallback: "body_sha256",
    forward_headers: ["X-GitHub-Event", "x-github-event", "x-github-delivery"],
    events: ["push", "issues.opened", "push"],
    match: 'payload.ref == "main"',
    rate_limit_per_minute: 100_000,
    description: "pushes",
  });
  expect(route).toMatchObject({
    workflow: "on-push",
    workflow_version: "1.0.0",
    enabled: false,
    signature: { preset: "github", tolerance_seconds: 60 },
    acknowledge: "received",
    idempotency_fallback: "body_sha256",
    forward_headers: ["x-github-event", "x-github-delivery"],
    events: ["push", "issues.opened"],
    match: 'payload.ref == "main"',
    rate_limit_per_minute: 100_000,
    description: "pushes",
    secret_source: "stored",
  });
  expect(JSON.stringify(route)).not.toContain("0123456789abcdef");
});

test("filters are changed, and taken away, like any field", async () => {
  const { create, call, tenant } = newcomer();
  const route = await create({
    source: "pay",
    signature: "stripe",
    events: ["invoice.paid"],
    match: "payload.livemode",
  });
  const other = await call("PATCH", `/${route.id}`, { match: "payload.amount > 5" });
  expect(other.body).toMatchObject({ events: ["invoice.paid"], match: "payload.amount > 5" });
  const plain = await call("PATCH", `/${route.id}`, { signature: "svc" });
  expect([plain.status, plain.body.issues]).toMatchObject([422, [{ path: "events" }]]);
  expect((await call("PATCH", `/${route.id}`, { events: [], match: null })).body).toMatchObject({
    events: [],
    match: null,
  });
  const [, first] = await fixture.audited(tenant);
  expect(first?.details).toMatchObject({ changed: ["match"], match: "payload.amount > 5" });
});

test("a source of any allowed characters has a URL that leads to it", async () => {
  const { create } = newcomer();
  const { url, id } = await create({ source: 'a"b:c<d>{e}|\\^`' });
  expect(decodeURIComponent(new URL(url).pathname)).toBe(`/v1/webhooks/a"b:c<d>{e}|\\^\`/${id}`);
});

test("slack acknowledges before it routes, unless told otherwise", async () => {
  const { create, call } = newcomer();
  const slack = await create({ source: "slack", signature: "slack" });
  expect(slack.acknowledge).toBe("received");
  expect((await create({ source: "slack-2", signature: "slack", acknowledge: "routed" })).acknowledge).toBe("routed");
  expect((await call("PATCH", `/${slack.id}`, { acknowledge: "routed" })).body.acknowledge).toBe("routed");
  expect((await call("PUT", `/${slack.id}`, { signature: "slack" })).body.acknowledge).toBe("received");
});

test("repeats of signed bytes are refused by preset, unless a source says otherwise", async () => {
  const { create, call } = newcomer();
  for (const [preset, guarded] of Object.entries({ svc: false, github: true, stripe: true, slack: true })) {
    expect((await create({ source: preset === "stripe" ? "pay" : preset, signature: preset })).replay_guard).toBe(
      guarded,
    );
  }
  const timed = await create({ source: "timed", require_timestamp: true });
  expect(timed).toMatchObject({ replay_guard: true, require_timestamp: true });
  const off = await call("PATCH", `/${timed.id}`, { replay_guard: false });
  expect(off.body).toMatchObject({ replay_guard: false, require_timestamp: true });
  const other = await call("PATCH", `/${timed.id}`, { signature: "github" });
  expect([other.status, other.body.issues]).toMatchObject([422, [{ path: "require_timestamp" }]]);
  const reset = await call("PUT", `/${timed.id}`, { signature: "github" });
  expect(reset.body).toMatchObject({ replay_guard: true, require_timestamp: false });
});

describe("refused", () => {
  const { call } = newcomer();
  test.each([
    [{}, ["source"]],
    [{ source: "" }, ["source"]],
    [{ source: "a b" }, ["source"]],
    [{ source: "a/b" }, ["source"]],
    [{ source: ".ci" }, ["source"]],
    [{ source: "cí" }, ["source"]],
    [{ source: "a\0" }, ["source"]],
    [{ source: "x".repeat(129) }, ["source"]],
    [{ source: 7 }, ["source"]],
    [{ source: "s", colour: "red" }, ["colour"]],
    [{ source: "s", events: ["push"] }, ["events"]],
    [{ source: "s", signature: "github", events: ["a b"] }, ["events.0"]],
    [{ source: "s", match: "payload.n ==" }, ["match"]],
    [{ source: "s", match: "body.n == 1" }, ["match"]],
    [{ source: "s", match: " " }, ["match"]],
    [{ source: "s", match: 'payload.n == "\0"' }, ["match"]],
    [{ source: "s", rate_limit_per_minute: 0 }, ["rate_limit_per_minute"]],
    [{ source: "s", rate_limit_per_minute: 100_001 }, ["rate_limit_per_minute"]],
    [{ source: "s", id: "mine" }, ["id"]],
    [{ source: "s", signature: "sha1" }, ["signature"]],
    [{ source: "s", signature: "github", require_timestamp: true }, ["require_timestamp"]],
    [{ source: "s", replay_guard: "yes" }, ["replay_guard"]],
    [{ source: "s", signature: { preset: "stripe", tolerance_seconds: 29 } }, ["signature.tolerance_seconds"]],
    [{ source: "s", signature: { preset: "stripe", tolerance_seconds: 901 } }, ["signature.tolerance_seconds"]],
    [{ source: "s", signature: { preset: "stripe", key: "x" } }, ["signature.key"]],
    [{ source: "s", secret: "x".repeat(15) }, ["secret"]],
    [{ source: "s", secret: "x".repeat(257) }, ["secret"]],
    [{ source: "s", secret: `0123456789abcdef\0` }, ["secret"]],
    [{ source: "s", secret: "0123456789abcdef\ud800" }, ["secret"]],
    [{ source: "s", secret: "0123456789abcdef", generate_secret: true }, ["generate_secret"]],
    [{ source: "s", secret: "not base64 at all!", signature: "standard_webhooks" }, ["secret"]],
    [{ source: "s", workflow: "on-push\0" }, ["workflow"]],
    [{ source: "s", workflow: "" }, ["workflow"]],
    [{ source: "s", workflow_version: "1.0.0" }, ["workflow_version"]],
    [{ source: "s", acknowledge: "later" }, ["acknowledge"]],
    [{ source: "s", idempotency_fallback: "body" }, ["idempotency_fallback"]],
    [{ source: "s", forward_headers: ["x y"] }, ["forward_headers.0"]],
    [{ source: "s", forward_headers: "*" }, ["forward_headers"]],
    [{ source: "s", description: "x".repeat(1025) }, ["description"]],
    [{ source: "s", description: "\0" }, ["description"]],
    [{ source: "s", enabled: "yes" }, ["enabled"]],
    [JSON.parse('{"source":"s","__proto__":{"enabled":false}}'), ["__proto__"]],
  ])("%j", async (body, paths) => {
    const answer = await call("POST", "", body);
    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe("validation_failed");
    expect(issuePaths(answer.body)).toEqual(paths);
  });

  test.each(["stripe", "GIT", "keycloak"])("the reserved source %s", async (source) => {
    expect((await call("POST", "", { source })).body).toMatchObject({ code: "reserved_source" });
  });

  test("a workflow that is not visible here", async () => {
    fixture.workflows.add("somebody-else on-merge");
    const answer = await call("POST", "", { source: "s", workflow: "on-merge" });
    expect(answer).toMatchObject({ status: 422, body: { code: "unknown_workflow", workflow: "on-merge" } });
  });

  test("nothing of it is stored", async () => {
    expect((await call("GET", "")).body).toEqual({ items: [], routes: [], count: 0, next_cursor: null });
  });
});

test("a source has one route in a tenant, however it is written", async () => {
  const { call, create } = newcomer();
  const { id } = await create({ source: "shop" });
  expect(await call("POST", "", { source: "SHOP" })).toMatchObject({ status: 409, body: { code: "route_exists", id } });
  await newcomer().create({ source: "shop" });
});

test("of parallel requests for one source one is served", async () => {
  const { call } = newcomer();
  const answers = await Promise.all(Array.from({ length: 8 }, () => call("POST", "", { source: "race" })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
});

test("a tenant has 200 routes at most, also where requests race", async () => {
  const { tenant, call } = newcomer();
  await fixture.sql`
    insert into stimulus_sources (id, tenant, source, enabled, preset, tolerance_seconds, acknowledge,
      idempotency_fallback, forward_headers, description, secret_version, created_at, updated_at, created_by)
    select gen_random_uuid(), ${tenant}, 'many-' || n, true, 'svc', 300, 'routed', 'none', '{*}', '', 0, now(), now(),
      '{"kind":"k","sub":"s"}' from generate_series(1, 197) as n`;
  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => call("POST", "", { source: `more-${n}` })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 422, 422, 422]);
  const refused = answers.find(({ status }) => status === 422);
  expect(refused?.body.issues).toEqual([expect.objectContaining({ path: "source", code: "too_many_routes" })]);
  expect((await call("POST", "", { source: "many-7" })).body.code).toBe("route_exists");
});

test("lists go by source, page by page, and can name one", async () => {
  const { call, create } = newcomer();
  for (const source of ["b", "c", "a", "a-1"]) await create({ source });
  const first = (await call("GET", "?limit=3")).body;
  expect(first.items.map(({ source }: { source: string }) => source)).toEqual(["a", "a-1", "b"]);
  expect(first.routes).toEqual(first.items);
  const rest = (await call("GET", `?limit=3&cursor=${first.next_cursor}`)).body;
  expect(rest).toMatchObject({ count: 1, next_cursor: null, items: [{ source: "c" }] });
  expect((await call("GET", "?source=A-1")).body.items).toMatchObject([{ source: "a-1" }]);
  expect((await call("GET", "?source=nothing")).body.count).toBe(0);
  expect((await call("GET", "?cursor=nonsense")).status).toBe(422);
});

test("a foreign or unknown route is not found, by every verb", async () => {
  const owner = newcomer();
  const stranger = newcomer();
  const { id } = await owner.create({ source: "mine" });
  for (const one of [id, crypto.randomUUID()]) {
    for (const [method, path, body] of [
      ["GET", `/${one}`],
      ["PATCH", `/${one}`, { enabled: false }],
      ["PUT", `/${one}`, {}],
      ["DELETE", `/${one}`],
      ["POST", `/${one}/rotate-secret`, {}],
    ] as const) {
      const answer = await stranger.call(method, path, body);
      expect(`${method} ${answer.status} ${answer.body.code}`).toBe(`${method} 404 route_not_found`);
    }
  }
  expect((await owner.call("GET", `/${id}`)).body.enabled).toBe(true);
  expect((await owner.call("GET", "/nonsense")).body.code).toBe("invalid_id");
});

test("every change is in the audit log", async () => {
  const { tenant, call, create } = newcomer();
  const { id } = await create({ source: "s", secret: "0123456789abcdef" });
  await call("PATCH", `/${id}`, { enabled: false, secret: "fedcba9876543210" });
  await call("PATCH", `/${id}`, { enabled: false });
  await call("POST", `/${id}/rotate-secret`);
  await call("DELETE", `/${id}`);
  const entries = await fixture.audited(tenant);
  expect(entries.map(({ action, target_id }) => `${action} ${target_id}`)).toEqual(
    ["created", "updated", "secret_rotated", "deleted"].map((verb) => `stimulus_route.${verb} ${id}`),
  );
  expect(entries[1]?.details).toMatchObject({ changed: ["enabled", "secret"], enabled: false });
});

test("writing takes stimulus:manage, reading less", async () => {
  const { tenant, create } = newcomer();
  const { id } = await create({ source: "s" });
  const reader = caller(tenant, { scopes: new Set(["stimulus:list", "stimulus:read"]) });
  for (const [method, path] of [
    ["POST", ""],
    ["PATCH", `/${id}`],
    ["PUT", `/${id}`],
    ["DELETE", `/${id}`],
    ["POST", `/${id}/rotate-secret`],
    ["PUT", "/router"],
    ["DELETE", "/router"],
  ] as const) {
    expect((await fixture.call(reader, method, path, {})).body.code).toBe("insufficient_scope");
  }
  for (const path of ["", `/${id}`, "/router"]) expect((await fixture.call(reader, "GET", path)).status).toBe(200);
});

describe("the router", () => {
  const agentId = "0198b000-0000-7000-8000-000000000001";
  fixture.agents.set("inbound-router", agentId);
  fixture.agents.set(agentId, agentId);

  test("is not configured at first, then as it was put, then gone", async () => {
    const { tenant, call } = newcomer();
    expect((await call("GET", "/router")).body).toEqual({ configured: false });
    const { body } = await call("PUT", "/router", { router_agent: "inbound-router" });
    expect(body).toEqual({
      configured: true,
      tenant_id: tenant,
      router_agent: "inbound-router",
      router_agent_id: agentId,
      confidence_threshold: 0.7,
      timeout_seconds: 30,
      allowed_workflows: null,
      updated_at: expect.any(String),
      updated_by: { kind: "service_account", sub: `user-of-${tenant}` },
    });
    expect((await call("GET", "/router")).body).toEqual(body);
    for (const _ of [1, 2]) {
      expect((await call("DELETE", "/router")).body).toEqual({ status: "deleted", success: true });
    }
    expect((await call("GET", "/router")).body).toEqual({ configured: false });
    const actions = (await fixture.audited(tenant)).map(({ action }) => action);
    expect(actions).toEqual(["stimulus_router.updated", "stimulus_router.deleted"]);
  });

  test("takes its fields by either name", async () => {
    const { call } = newcomer();
    const { body } = await call("PUT", "/router", {
      router_agent_id: agentId,
      classification_confidence_threshold: 0,
      classification_timeout_secs: 120,
      allowed_workflows: ["on-push", "on-push"],
    });
    expect(body).toMatchObject({
      router_agent: agentId,
      confidence_threshold: 0,
      timeout_seconds: 120,
      allowed_workflows: ["on-push"],
    });
  });

  test.each([
    [{}, "validation_failed"],
    [{ router_agent: "nobody" }, "agent_not_found"],
    [{ router_agent: "inbound-router", router_agent_id: agentId }, "validation_failed"],
    [{ router_agent: "a\0" }, "validation_failed"],
    [{ router_agent: "inbound-router", confidence_threshold: 1.1 }, "validation_failed"],
    [{ router_agent: "inbound-router", timeout_seconds: 0 }, "validation_failed"],
    [{ router_agent: "inbound-router", timeout_seconds: 121 }, "validation_failed"],
    [{ router_agent: "inbound-router", threshold: 1 }, "validation_failed"],
    [{ router_agent: "inbound-router", allowed_workflows: ["\0"] }, "validation_failed"],
    [{ router_agent: "inbound-router", allowed_workflows: ["on-push", "nothing"] }, "unknown_workflow"],
  ])("refuses %j", async (body, code) => {
    const answer = await newcomer().call("PUT", "/router", body);
    expect(`${answer.status} ${answer.body.code}`).toBe(`422 ${code}`);
  });
});

test("bare_url is true for the oldest twenty of a name in any tenant and bound ones", async () => {
  const source = "popular";
  const routes: { id: string; call: ReturnType<typeof newcomer>["call"] }[] = [];
  for (let n = 0; n < 21; n++) {
    const { call, create } = newcomer();
    routes.push({ id: (await create({ source })).id, call });
    fixture.advance(1);
  }
  const bare = async (n: number) => (await routes[n]?.call("GET", `/${routes[n]?.id}`))?.body.bare_url;
  expect([await bare(0), await bare(19), await bare(20)]).toEqual([true, true, false]);
  await routes[3]?.call("DELETE", `/${routes[3].id}`);
  expect(await bare(20)).toBe(true);
});

test("secret_source names the variable in force", async () => {
  const system = caller("svc-system");
  const { body } = await fixture.call(system, "POST", "", { source: "ci" });
  expect(body.secret_source).toBe("env");
  const other = await newcomer().create({ source: "ci" });
  expect(other.secret_source).toBe("none");
  const { body: stored } = await fixture.call(system, "PATCH", `/${body.id}`, { generate_secret: true });
  expect(stored.secret_source).toBe("stored");
});

test("every request gets a defined answer", async () => {
  const { tenant, call } = newcomer();
  const { body: route } = await call("POST", "", { source: "kept" });
  const name = fc.constantFrom(
    ...["source", "workflow", "workflow_version", "enabled", "signature", "secret", "generate_secret", "acknowledge"],
    ...["forward_headers", "description", "router_agent", "allowed_workflows", "previous_valid_seconds", "__proto__"],
  );
  const value = fc.oneof(
    fc.constantFrom(
      "svc",
      "standard_webhooks",
      "on-push",
      "inbound-router",
      "0123456789abcdef",
      "\0",
      "\ud800",
      "",
      true,
    ),
    fc.jsonValue({ maxDepth: 2 }),
    fc.array(fc.string({ unit: "binary" }), { maxLength: 3 }),
  );
  const body = fc.oneof(
    fc.array(fc.tuple(name, value), { maxLength: 4 }).map((members) => `{${members.map(memberText).join()}}`),
    fc.jsonValue().map((any) => JSON.stringify(any)),
    fc.string({ unit: "binary" }),
  );
  const target = fc.constantFrom(
    ...(["POST ", "PUT /router", `PATCH /${route.id}`, `PUT /${route.id}`, `POST /${route.id}/rotate-secret`] as const),
  );
  await fc.assert(
    fc.asyncProperty(target, body, async (at, text) => {
      const [method = "", path = ""] = at.split(" ");
      const answer = await call(method, path, text);
      expect(answer.status).toBeLessThan(500);
      if (answer.status >= 400) expect(answer.body.code).toBeString();
    }),
    { numRuns: 400 },
  );
  expect((await fixture.audited(tenant)).length).toBeGreaterThan(0);
});

const memberText = ([name, value]: readonly [string, unknown]): string =>
  `${JSON.stringify(name)}:${JSON.stringify(value)}`;
