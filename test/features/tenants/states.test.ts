/** What a tenant's state means for its requests and for what waits of it (docs/reference/tenants.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { say } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { type Fixture, type Headers, openFixture } from "./fixture.ts";

let at: Fixture;
beforeAll(async () => {
  at = await openFixture();
});
afterAll(() => at?.dispose());

/** What a suspended tenant is still answered: what pays for it, shows it, or takes something away. */
const openRoutes = [
  /^\w+ \/v1\/billing\//,
  /^GET \/v1\/(?:teams|colony|user)(?:\/|$)/,
  /^GET \/v1\/api-keys$/,
  /^DELETE \/v1\/(?:api-keys|credentials|secrets)\//,
  /^DELETE \/v1\/colony\/members\//,
  /^DELETE \/v1\/edge\/hosts\//,
];

/** Every operation that takes a bearer, of the node's own API document; events are not waited for. */
async function operations(): Promise<
  readonly { readonly name: string; readonly method: string; readonly url: string }[]
> {
  const { body } = await at.node.call("GET", "/openapi.json");
  return Object.entries<Record<string, { security?: readonly unknown[] }>>(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security = [] }]) => security.length > 0)
      .map(([method]) => ({
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        url: path.replaceAll(/\{\w+\}/g, crypto.randomUUID()),
      })),
  );
}

async function codeOf(method: string, url: string, headers: Headers): Promise<string> {
  const body = ["GET", "DELETE"].includes(method) ? undefined : {};
  const answer = await at.node.call(method, url, body, headers);
  return `${answer.status} ${answer.body?.code ?? ""}`;
}

/** Waits until the node knows the state. */
const isClosed = (headers: Headers, code: string) =>
  until(async () => (await codeOf("GET", "/v1/agents", headers)) === `403 ${code}`, {
    timeoutMs: 10_000,
    what: `the answer ${code}`,
  });

test("in a suspended tenant only what pays, shows or takes away is answered", async () => {
  const slug = await at.newTenant();
  const ann = await at.member(slug);
  await at.deploy(ann);
  await at.admin("POST", `/${slug}/suspend`, {});
  await isClosed(ann, "tenant_suspended");
  const all = (await operations()).filter(({ name }) => !name.includes(" /v1/admin/"));
  expect(all.length).toBeGreaterThan(60);
  const wrong: string[] = [];
  for (const { name, method, url } of all) {
    const isOpen = openRoutes.some((route) => route.test(name));
    const isRefused = (await codeOf(method, url, ann)) === "403 tenant_suspended";
    if (isOpen === isRefused) wrong.push(`${name} is ${isRefused ? "refused" : "answered"}`);
  }
  expect(wrong).toEqual([]);
});

test("in a deleted tenant no route is answered", async () => {
  const slug = await at.newTenant();
  const ann = await at.member(slug);
  await at.deploy(ann);
  await at.admin("DELETE", `/${slug}`);
  await isClosed(ann, "tenant_deleted");
  const answered: string[] = [];
  for (const { name, method, url } of await operations()) {
    if ((await codeOf(method, url, ann)) !== "403 tenant_deleted") answered.push(name);
  }
  expect(answered).toEqual([]);
});

describe("suspend, resume, delete, restore", () => {
  test("starts are refused and a key can be revoked; after a deletion keys are dead", async () => {
    const slug = await at.newTenant();
    const ann = await at.member(slug);
    const agent = await at.deploy(ann);
    const made = await at.node.call("POST", "/v1/api-keys", { name: "ci", scopes: ["agent:list"] }, ann);
    expect(made.status).toBe(201);
    const spare = await at.node.call("POST", "/v1/api-keys", { name: "spare", scopes: ["agent:list"] }, ann);
    const key = { Authorization: `Bearer ${made.body.api_key}` };
    expect((await at.node.call("GET", "/v1/agents", undefined, key)).status).toBe(200);
    await at.admin("POST", `/${slug}/suspend`, {});
    await isClosed(ann, "tenant_suspended");
    expect((await at.start(ann, agent)).body.code).toBe("tenant_suspended");
    expect(await codeOf("GET", "/v1/agents", key)).toBe("403 tenant_suspended");
    expect((await at.node.call("DELETE", `/v1/api-keys/${spare.body.id}`, undefined, ann)).status).toBe(200);
    await at.admin("POST", `/${slug}/resume`);
    await until(async () => (await at.start(ann, agent)).status === 200, { what: "a start" });
    await at.admin("DELETE", `/${slug}`);
    await isClosed(ann, "tenant_deleted");
    expect(await codeOf("GET", "/v1/agents", key)).toMatch(/^(401 invalid_api_key|403 tenant_deleted)$/);
    await at.admin("POST", `/${slug}/restore`);
    const agents = await until(
      async () => {
        const { status, body } = await at.node.call("GET", "/v1/agents", undefined, ann);
        return status === 200 && body.items;
      },
      { what: "the restored tenant" },
    );
    expect(agents).toMatchObject([{ agent_id: agent }]);
    expect(await codeOf("GET", "/v1/agents", key)).toBe("401 invalid_api_key");
  });

  test("what runs finishes in a suspended tenant and is cancelled in a deleted one", async () => {
    const slug = await at.newTenant();
    const ann = await at.member(slug);
    const script = (ms: number) => ({ script: [{ content: "done", delay_ms: ms }] });
    const [soon, late] = [await at.deploy(ann, script(1_500)), await at.deploy(ann, script(30_000))];
    const [first, second] = [await at.start(ann, soon), await at.start(ann, late)];
    await at.admin("POST", `/${slug}/suspend`, {});
    await isClosed(ann, "tenant_suspended");
    const statusOf = async (id: string) =>
      (await at.stores.sql<{ status: string }[]>`select status from executions where execution_id = ${id}`)[0]?.status;
    await until(async () => (await statusOf(first.body.execution_id)) === "completed", {
      timeoutMs: 40_000,
      what: "the end of what ran",
    });
    expect(await statusOf(second.body.execution_id)).toMatch(/^(pending|running)$/);
    await at.admin("DELETE", `/${slug}`);
    await until(async () => (await statusOf(second.body.execution_id)) === "cancelled", {
      timeoutMs: 40_000,
      what: "the cancellation",
    });
    await until(async () => (await at.stores.sql`select from runtime_timers where tenant = ${slug}`).count === 0, {
      timeoutMs: 20_000,
      what: "the end of its timers",
    });
  });
});

test("stimuli that were taken in wait for the end of a suspension, then start runs", async () => {
  const slug = await at.newTenant();
  const ann = await at.member(slug);
  const workflow = {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name: "noted" },
    spec: { initial_state: "DONE", states: { DONE: { kind: "System", command: "noop", transitions: [] } } },
  };
  expect((await at.node.call("POST", "/v1/workflows", workflow, ann)).status).toBe(200);
  const made = await at.node.call("POST", "/v1/stimulus-routes", { source: "ci", workflow: "noted" }, ann);
  expect(made.status).toBe(201);
  const { sql } = at.stores;
  // Told by no notice: the node takes messages for a moment more, as it does with those that are under way.
  const taken = await until(
    async () => {
      await sql`update tenants set status = 'active' where slug = ${slug}`;
      await until(async () => (await codeOf("GET", "/v1/agents", ann)) === "200 ", { what: "the tenant" });
      await sql`update tenants set status = 'suspended', suspended_at = now() where slug = ${slug}`;
      const headers = { ...ann, Prefer: "respond-async" };
      const answer = await at.node.call("POST", "/v1/stimuli", { source: "ci", content: {} }, headers);
      return answer.status === 202 && answer;
    },
    { timeoutMs: 40_000, what: "the message to be taken" },
  );
  const stored = async () =>
    (
      await sql<
        { status: string }[]
      >`select status from stimuli where tenant = ${slug} and id = ${taken.body.stimulus_id}`
    )[0]?.status;
  await isClosed(ann, "tenant_suspended");
  expect(await stored()).toBe("received");
  await at.admin("POST", `/${slug}/resume`);
  await until(async () => (await stored()) === "classified", { timeoutMs: 40_000, what: "the run" });
});

test("a schedule starts nothing while its tenant is suspended, and goes on afterwards", async () => {
  const slug = await at.newTenant();
  const ann = await at.member(slug);
  const agent = await at.deploy(ann, { script: [say("done")], spec: { schedule: { type: "interval", seconds: 60 } } });
  const { sql } = at.stores;
  await sql`
    update agent_versions set spec = jsonb_set(spec::jsonb, '{schedule,every_ms}', '1000')::json
    where agent_id = ${agent}`;
  const count = async () =>
    (await sql<{ count: number }[]>`select count(*)::int as count from executions where agent_id = ${agent}`)[0]
      ?.count ?? 0;
  // A change has the schedule settled anew.
  for (const act of ["pause", "resume"]) await at.node.call("POST", `/v1/agents/${agent}/${act}`, undefined, ann);
  await until(async () => (await count()) > 0, { timeoutMs: 40_000, what: "the first start" });
  await at.admin("POST", `/${slug}/suspend`, {});
  await isClosed(ann, "tenant_suspended");
  await until(
    async () => {
      const before = await count();
      await Bun.sleep(3_000);
      return (await count()) === before;
    },
    { timeoutMs: 40_000, what: "the starts to end" },
  );
  const held = await count();
  await at.admin("POST", `/${slug}/resume`);
  await until(async () => (await count()) > held, { timeoutMs: 40_000, what: "a start after the suspension" });
  await at.admin("DELETE", `/${slug}`);
});
