/** Source routes and routers of `SVC_STIMULUS_ROUTES_FILE` (docs/reference/stimuli.md). */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootSources } from "../../../../src/features/stimuli/sources/boot/boot.ts";
import { type BootTenant, readBootFile } from "../../../../src/features/stimuli/sources/boot/file.ts";
import { createTenants } from "../../../../src/identity/tenants/tenants.ts";
import { caller } from "../../../harness/callers.ts";
import { openFixture } from "./fixture.ts";

const folder = await mkdtemp(join(tmpdir(), "svc-boot-"));
const fixture = await openFixture();
afterAll(async () => {
  await fixture.dispose();
  await rm(folder, { recursive: true });
});

async function read(yaml: string) {
  const path = join(folder, `${crypto.randomUUID()}.yaml`);
  await writeFile(path, yaml);
  return readBootFile(path);
}

async function valid(yaml: string): Promise<readonly BootTenant[]> {
  const { tenants, problems } = await read(yaml);
  expect(problems).toEqual([]);
  return tenants;
}

const boot = (tenants: readonly BootTenant[]) =>
  bootSources({ ...fixture, tenants: createTenants(fixture.sql, Date.now) }, tenants);
const get = async (tenant: string, path: string) => (await fixture.call(caller(tenant), "GET", path)).body;

describe("reading", () => {
  test("an example with every member", async () => {
    const tenants = await valid(`
tenants:
  svc-system:
    router: {router_agent: inbound-router, confidence_threshold: 0.75}
    routes:
      - {source: ci, workflow: build-report}
`);
    expect(tenants).toEqual([
      {
        slug: "svc-system",
        router: { agent: "inbound-router", confidenceThreshold: 0.75, timeoutSeconds: 30, allowedWorkflows: null },
        sources: [
          {
            secret: null,
            settings: expect.objectContaining({ source: "ci", workflow: "build-report", preset: "svc" }),
          },
        ],
      },
    ]);
  });

  test("tenants may be named without anything, and none at all", async () => {
    expect(await valid("tenants: {}")).toEqual([]);
    expect(await valid("tenants: {acme: {}}")).toEqual([{ slug: "acme", router: null, sources: [] }]);
  });

  test.each([
    ["", "document: must be a mapping"],
    ["tenants: [", "cannot be read: Not valid YAML"],
    ["[]", "document: must be a mapping"],
    ["tenants: []", "tenants: must be a mapping"],
    ["tenants: {}\nroutes: []", "document.routes: is not known here"],
    ["tenants: {Acme: {}}", "tenants.Acme: is no tenant name"],
    ["tenants: {acme: 7}", "tenants.acme: must be a mapping"],
    ["tenants: {acme: {route: []}}", "tenants.acme.route: is not known here"],
    ["tenants: {acme: {routes: {}}}", "tenants.acme.routes: must be a list"],
    ["tenants: {acme: {routes: [7]}}", "tenants.acme.routes.0: must be an object"],
    ["tenants: {acme: {routes: [{}]}}", "tenants.acme.routes.0.source: is required"],
    ["tenants: {acme: {routes: [{source: stripe}]}}", "tenants.acme.routes.0: The source stripe is"],
    ["tenants: {acme: {routes: [{source: a}, {source: A}]}}", "tenants.acme.routes.1.source: a occurs twice"],
    ["tenants: {acme: {routes: [{source: a, colour: red}]}}", "tenants.acme.routes.0.colour: "],
    ["tenants: {acme: {routes: [{source: a, generate_secret: true}]}}", "tenants.acme.routes.0.generate_secret: "],
    ["tenants: {acme: {routes: [{source: a, secret: short}]}}", "tenants.acme.routes.0.secret: "],
    ["tenants: {acme: {router: {}}}", "tenants.acme.router.router_agent: is required"],
    ["tenants: {acme: {router: {router_agent: a, timeout_seconds: 0}}}", "tenants.acme.router.timeout_seconds: "],
  ])("%j is refused", async (yaml, problem) => {
    const { problems } = await read(yaml);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]).toStartWith(`SVC_STIMULUS_ROUTES_FILE ${problem}`);
  });

  test("every fault is told at once", async () => {
    const { problems } = await read(`
tenants:
  acme: {router: {router_agent: 7}, routes: [{source: git}, {source: ok, enabled: maybe, secret: x}]}
  -x: {routes: [{source: "a b"}]}
`);
    expect(problems.length).toBe(6);
  });

  test("more routes than a tenant may have", async () => {
    const routes = Array.from({ length: 201 }, (_, n) => ({ source: `s-${n}` }));
    const { problems } = await read(JSON.stringify({ tenants: { acme: { routes } } }));
    expect(problems).toEqual([expect.stringContaining("at most 200")]);
  });

  test("a file that is not there", async () => {
    expect((await readBootFile(join(folder, "none.yaml"))).problems).toEqual([
      expect.stringContaining("SVC_STIMULUS_ROUTES_FILE cannot be read"),
    ]);
  });
});

describe("writing", () => {
  test("what is there is left alone, edited or not; the rest is made, with its tenant", async () => {
    const yaml = `
tenants:
  fresh:
    router: {router_agent: late-agent}
    routes: [{source: one, workflow: not-there-yet, secret: 0123456789abcdef0}, {source: two}]
`;
    expect(await boot(await valid(yaml))).toEqual([]);
    expect(await fixture.sql`select status from tenants where slug = 'fresh'`).toMatchObject([{ status: "active" }]);
    const { items } = await get("fresh", "");
    expect(items).toMatchObject([
      { source: "one", workflow: "not-there-yet", secret_source: "stored", created_by: { kind: "system" } },
      { source: "two", secret_source: "none" },
    ]);
    const manager = caller("fresh");
    await fixture.call(manager, "PATCH", `/${items[1].id}`, { description: "edited" });
    fixture.agents.set("early-agent", "0198b000-0000-7000-8000-000000000002");
    await fixture.call(manager, "PUT", "/router", { router_agent: "early-agent" });
    expect(await boot(await valid(`${yaml}  later: {routes: [{source: three}]}`))).toEqual([]);
    expect((await get("fresh", "")).items).toMatchObject([
      { id: items[0].id },
      { id: items[1].id, description: "edited" },
    ]);
    expect((await get("fresh", "/router")).router_agent).toBe("early-agent");
    expect((await get("later", "")).count).toBe(1);
    const told = await fixture.audited("fresh");
    expect(told.map(({ action }) => action)).toEqual([
      "stimulus_route.created",
      "stimulus_route.created",
      "stimulus_router.updated",
      "tenant.autoprovisioned",
      "stimulus_route.updated",
      "stimulus_router.updated",
    ]);
    expect(JSON.stringify(told)).not.toContain("0123456789abcdef0");
  });

  test("a router's agent is found at use, once there is one", async () => {
    await boot(await valid("tenants: {early: {router: {router_agent: not-yet}}}"));
    expect(await get("early", "/router")).toMatchObject({ router_agent: "not-yet", router_agent_id: null });
    expect((await fixture.sources.routerOf("early"))?.agentId).toBe("00000000-0000-0000-0000-000000000000");
    fixture.agents.set("early not-yet", "0198b000-0000-7000-8000-000000000003");
    fixture.advance(3000);
    expect((await fixture.sources.routerOf("early"))?.agentId).toBe("0198b000-0000-7000-8000-000000000003");
    expect((await get("early", "/router")).router_agent_id).toBe("0198b000-0000-7000-8000-000000000003");
  });

  test("nodes that start at once make each row once", async () => {
    const routes = (tenant: string) =>
      `  ${tenant}: {router: {router_agent: a}, routes: [{source: one}, {source: two}]}`;
    const forward = await valid(`tenants:\n${routes("left")}\n${routes("right")}`);
    const backward = await valid(`tenants:\n${routes("right")}\n${routes("left")}`);
    await Promise.all([forward, backward, forward, backward].map(boot));
    for (const tenant of ["left", "right"]) expect((await fixture.audited(tenant)).length).toBe(4);
  });

  test("where one tenant's routes do not fit nothing is written", async () => {
    const list = (from: number, count: number) =>
      JSON.stringify(Array.from({ length: count }, (_, n) => ({ source: `s-${from + n}` })));
    await boot(await valid(`tenants: {crowded: {routes: ${list(0, 150)}}}`));
    const problems = await boot(
      await valid(`tenants: {also: {routes: [{source: x}]}, crowded: {routes: ${list(100, 101)}}}`),
    );
    expect(problems).toEqual([expect.stringContaining("tenants.crowded.routes")]);
    expect((await get("also", "")).count).toBe(0);
    expect((await get("crowded", "")).count).toBe(150);
    expect(await boot(await valid(`tenants: {crowded: {routes: ${list(100, 100)}}}`))).toEqual([]);
    expect((await get("crowded", "")).count).toBe(200);
  });
});
