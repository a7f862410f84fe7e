/** Rates of a whole node, as callers, agents and operators meet them (docs/reference/identity.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { usualTerms } from "../../../actors/policy/quota.ts";
import { demands } from "../../../actors/policy/rates/limits.ts";
import { openLimiter } from "../../../src/features/limits/limiter.ts";
import { calls, manifest, say } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { openConsumer, type Row } from "./fixture.ts";

let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  // What is counted in the clock hour shall not begin anew on the way.
  const left = 3_600_000 - (Date.now() % 3_600_000);
  if (left < 60_000) await Bun.sleep(left + 1000);
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "info" } });
}, 150_000);
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

const overridesPath = "/v1/admin/rate-limits/overrides";
const operator = async () => ({
  Authorization: `Bearer ${await node.token({ grant_type: "password", username: "admin", password: "dev" }, "svc-system")}`,
});

const consumer = (script: unknown = [say("done")]) => openConsumer(stores, node, script);

async function override(body: object) {
  const answer = await node.call("POST", overridesPath, body, await operator());
  expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ id: expect.any(String) })]);
  return answer.body;
}
async function remove(id: string) {
  const answer = await node.call("DELETE", `${overridesPath}/${id}`, undefined, await operator());
  expect([answer.status, answer.body]).toEqual([200, { status: "deleted", id }]);
}

describe("starts of a free tenant", () => {
  test("three pass, the fourth in a minute is refused with consistent numbers", async () => {
    const me = await consumer();
    const third = [await me.start(), await me.start(), await me.start()].at(-1);
    expect(third?.status).toBe(200);
    const headers = (answer: { headers: Headers }) => (name: string) => answer.headers.get(name);
    const told = headers(third as never);
    expect([told("ratelimit-limit"), told("x-ratelimit-limit")]).toEqual(["3", "3"]);
    expect([told("ratelimit-remaining"), told("x-ratelimit-remaining")]).toEqual(["0", "0"]);
    expect(told("ratelimit-policy")).toBe("3;w=60, 5;w=3600, 20;w=86400, 80;w=604800, 100;w=2592000");
    const fourth = await me.start();
    const refused = headers(fourth);
    const { retry_after_seconds: wait, resets_at, request_id, ...body } = fourth.body;
    expect([fourth.status, body]).toEqual([
      429,
      {
        error: "Rate limit reached for agent_execution",
        code: "rate_limited",
        resource_type: "agent_execution",
        bucket: "per_minute",
        scope_type: "user",
        limit: 3,
        remaining: 0,
      },
    ]);
    expect(Number(refused("retry-after"))).toBe(wait);
    expect([refused("ratelimit-limit"), refused("x-ratelimit-remaining")]).toEqual(["3", "0"]);
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(Math.abs(Date.parse(resets_at) - Date.now() - wait * 1000)).toBeLessThan(30_000);
    expect(Number(refused("x-ratelimit-reset")) * 1000).toBeGreaterThan(Date.now());
  });

  test("of twenty parallel starts from a full bucket exactly three are admitted", async () => {
    const me = await consumer();
    const answers = await Promise.all(Array.from({ length: 20 }, () => me.start()));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(3).fill(200), ...Array(17).fill(429)]);
  });

  test("refused requests and repeats under a key cost nothing", async () => {
    const me = await consumer();
    const key = { "Idempotency-Key": crypto.randomUUID() };
    expect((await me.start({}, key)).status).toBe(200);
    expect((await me.start({}, key)).headers.get("idempotent-replay")).toBe("true");
    const refusals = [
      await me.start({ agent_id: crypto.randomUUID() }),
      await me.start({ agent_id: "x" }),
      await me.start({ input: null }),
      await me.call("POST", `/v1/agents/${crypto.randomUUID()}/execute`, { input: "" }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([404, 400, 422, 404]);
    // Every answer of a route that debits tells how its caller stands.
    expect(refusals.map(({ headers }) => headers.get("ratelimit-remaining"))).toEqual(["2", "2", "2", "2"]);
    expect(await me.used("agent_execution.hourly")).toMatchObject({ current_count: 1 });
  });
});

describe("usage", () => {
  test("two starts are two of five in the hour on both paths, and operators see the same", async () => {
    const me = await consumer();
    for (let count = 0; count < 2; count++) expect((await me.start()).status).toBe(200);
    const [one, other] = [
      await me.call("GET", "/v1/user/rate-limits/usage"),
      await me.call("GET", "/v1/user/rate-limits"),
    ];
    for (const { status, body } of [one, other]) {
      expect([status, body.user_id, body.tenant_id, body.tier]).toEqual([200, me.sub, me.tenant, "free"]);
      // Nine resources with five buckets each, at two scopes.
      expect([body.count, body.buckets, body.usage]).toEqual([90, body.items, body.items]);
      const hour = body.items.find((row: Row) => row.bucket_name === "agent_execution.hourly");
      expect(hour).toEqual({
        bucket_name: "agent_execution.hourly",
        usage_pct: 0.4,
        resource_type: "agent_execution",
        bucket: "hourly",
        scope_type: "user",
        scope_id: `${me.tenant}:svc-consumer:${me.sub}`,
        current_count: 2,
        limit_value: 5,
        remaining: 3,
        burst_value: null,
        window_seconds: 3600,
        window_start: expect.stringContaining(":00:00.000Z"),
        resets_at: expect.stringContaining(":00:00.000Z"),
      });
      const unused = body.items.find((row: Row) => row.bucket_name === "seal_tool:fs_*.daily");
      expect(unused).toMatchObject({ limit_value: -1, remaining: -1, current_count: 0, usage_pct: 0 });
    }
    for (const [scope_type, scope_id] of [
      ["tenant", me.tenant],
      ["user", `${me.tenant}:svc-consumer:${me.sub}`],
    ]) {
      const query = new URLSearchParams({ scope_type: scope_type ?? "", scope_id: scope_id ?? "" });
      const { body } = await node.call("GET", `/v1/admin/rate-limits/usage?${query}`, undefined, await operator());
      expect(body.count).toBe(45);
      expect(body.usage).toContainEqual({
        scope_type,
        scope_id,
        resource_type: "agent_execution",
        bucket: "hourly",
        window_start: expect.any(String),
        counter: 2,
        limit_value: 5,
      });
    }
  });

  test("a machine has the tenant's scope alone; one half of a scope is refused", async () => {
    const machine = await node.call("GET", "/v1/user/rate-limits");
    expect([machine.body.count, machine.body.tier]).toEqual([45, "system"]);
    expect(new Set(machine.body.items.map((row: Row) => row.scope_type))).toEqual(new Set(["tenant"]));
    const usage = async (query: string) =>
      node.call("GET", `/v1/admin/rate-limits/usage?${query}`, undefined, await operator());
    expect((await usage("scope_type=tenant")).status).toBe(422);
    expect((await usage("scope_id=acme")).status).toBe(422);
    expect((await usage("scope_type=user&scope_id=acme")).status).toBe(422);
    expect((await usage("scope_type=tenant&scope_id=nobody-here")).body).toEqual({ usage: [], items: [], count: 0 });
    expect((await usage("")).body.usage[0]).toMatchObject({ scope_type: "tenant", scope_id: "svc-system" });
  });
});

describe("overrides", () => {
  test("of a bucket leave the others; a consumer's own beats the tenant's", async () => {
    const me = await consumer();
    const limits = async (scope = "user") => [
      (await me.used("agent_execution.per_minute", scope)).limit_value,
      (await me.used("agent_execution.hourly", scope)).limit_value,
    ];
    const ofTenant = await override({
      tenant_id: me.tenant,
      resource_type: "execution",
      bucket: "hour",
      limit_value: 1,
    });
    expect(ofTenant).toMatchObject({ resource_type: "agent_execution", bucket: "hourly", realm: null, user_id: null });
    expect([await limits(), await limits("tenant")]).toEqual([
      [3, 1],
      [3, 1],
    ]);
    expect([(await me.start()).status, (await me.start()).body]).toEqual([
      200,
      expect.objectContaining({ code: "rate_limited", bucket: "hourly", limit: 1 }),
    ]);
    const ofUser = await override({
      user_id: me.sub,
      resource_type: "agent_execution",
      bucket: "hourly",
      limit_value: 10,
    });
    expect(ofUser).toMatchObject({ tenant_id: null, realm: "svc-consumer", user_id: me.sub });
    expect([await limits(), await limits("tenant")]).toEqual([
      [3, 10],
      [3, 10],
    ]);
    expect((await me.start()).status).toBe(200);
    await remove(ofUser.id);
    await remove(ofTenant.id);
    expect(await limits()).toEqual([3, 5]);
    const log = await node.call(
      "GET",
      `/v1/admin/audit?tenant_id=${me.tenant}&action=ratelimit.`,
      undefined,
      await operator(),
    );
    expect(log.body.items.map(({ action }: Row) => action)).toEqual([
      "ratelimit.override_deleted",
      "ratelimit.override_set",
    ]);
  });

  test("set again change in place; -1 lifts, a burst widens the minute; all are listed", async () => {
    const me = await consumer();
    const at = { tenant_id: me.tenant, resource_type: "llm_call" };
    const first = await override({ ...at, bucket: "per_minute", limit_value: 5, burst_value: 9 });
    const again = await override({ ...at, bucket: "minute", limit_value: 6, burst_value: 12 });
    expect(again).toMatchObject({ id: first.id, limit_value: 6, burst_value: 12, created_at: first.created_at });
    expect(await me.used("llm_call.per_minute")).toMatchObject({ limit_value: 6, burst_value: 12, remaining: 12 });
    await override({ ...at, bucket: "daily", limit_value: -1 });
    await override({ ...at, bucket: "weekly", limit_value: 0 });
    expect(await me.used("llm_call.daily")).toMatchObject({ limit_value: -1, remaining: -1, usage_pct: 0 });
    expect(await me.used("llm_call.weekly")).toMatchObject({ limit_value: 0, remaining: 0, usage_pct: 1 });
    const listed = async (query: string) =>
      (await node.call("GET", `${overridesPath}?tenant_id=${me.tenant}&${query}`, undefined, await operator())).body;
    const page = await listed("limit=2");
    expect(page.items.map(({ bucket }: Row) => bucket)).toEqual(["weekly", "daily"]);
    const rest = await listed(`limit=2&cursor=${page.next_cursor}`);
    expect([rest.overrides.map(({ id }: Row) => id), rest.next_cursor]).toEqual([[first.id], null]);
    expect((await listed("resource_type=workflow")).count).toBe(0);
  });

  test("that make no sense are refused", async () => {
    const good = { resource_type: "llm_call", bucket: "hourly", limit_value: 1 };
    for (const wrong of [
      { resource_type: "llm_calls" },
      { bucket: "yearly" },
      { limit_value: -2 },
      { limit_value: 2 ** 53 },
      { burst_value: 5 },
      { bucket: "per_minute", limit_value: 5, burst_value: 4 },
      { tenant_id: "Bad_Slug" },
      { realm: "svc-consumer" },
      { user_id: "nul\u0000" },
      { user_id: "x".repeat(10_000) },
    ]) {
      const { status, body } = await node.call("POST", overridesPath, { ...good, ...wrong }, await operator());
      expect([wrong, status, body.code]).toEqual([wrong, 422, "validation_failed"]);
    }
    const gone = await node.call("DELETE", `${overridesPath}/${crypto.randomUUID()}`, undefined, await operator());
    expect([gone.status, gone.body.code]).toEqual([404, "override_not_found"]);
    const malformed = await node.call("DELETE", `${overridesPath}/7`, undefined, await operator());
    expect([malformed.status, malformed.body.code]).toEqual([400, "invalid_id"]);
  });

  test("are the operators' alone: a consumer gets 403 on every route", async () => {
    const me = await consumer();
    const mine = await override({ tenant_id: me.tenant, resource_type: "llm_call", bucket: "daily", limit_value: 1 });
    const body = { tenant_id: me.tenant, resource_type: "llm_call", bucket: "daily", limit_value: -1 };
    for (const answer of [
      await me.call("GET", overridesPath),
      await me.call("POST", overridesPath, body),
      await me.call("POST", overridesPath, { broken: true }),
      await me.call("DELETE", `${overridesPath}/${mine.id}`),
      await me.call("GET", "/v1/admin/rate-limits/usage"),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([403, "operator_required"]);
    }
    expect(await me.used("llm_call.daily")).toMatchObject({ limit_value: 1 });
    const readonly = {
      Authorization: `Bearer ${await node.token({ grant_type: "password", username: "readonly", password: "dev" }, "svc-system")}`,
    };
    expect((await node.call("GET", overridesPath, undefined, readonly)).status).toBe(200);
    const refused = await node.call("POST", overridesPath, body, readonly);
    expect([refused.status, refused.body]).toEqual([403, expect.objectContaining({ required: "ratelimit:write" })]);
  });
});

describe("inside an execution", () => {
  /** Takes out of a tenant's buckets what others of its people may have used. */
  async function drain(tenant: string, resource: Parameters<typeof demands.of>[0], units: number) {
    const standings = { of: async () => ({ ...usualTerms(tenant), overrides: [] }) };
    const options = {
      redisServers: stores.redisUrl,
      prefix: stores.prefix,
      now: Date.now,
      standings,
      report: () => {},
    };
    const limiter = openLimiter(options);
    await limiter.debit({ tenant, user: null, demands: [demands.settled(resource, units)] });
    limiter.close();
  }

  test("model calls and their tokens count for the tenant and the starter", async () => {
    const me = await consumer([calls(["fs.list", { path: "/workspace" }]), say("done")]);
    const { body } = await me.start({ wait_seconds: 30 });
    expect(body.status).toBe("completed");
    for (const scope of ["user", "tenant"]) {
      expect(await me.used("llm_call.hourly", scope)).toMatchObject({ current_count: 2 });
      expect(await me.used("seal_tool:fs_*.hourly", scope)).toMatchObject({ current_count: 1 });
      const { usage } = (await me.call("GET", `/v1/executions/${body.execution_id}`)).body;
      const tokens = await me.used("llm_token.hourly", scope);
      expect(tokens.current_count).toBe(usage.input_tokens + usage.output_tokens);
      expect(tokens.current_count).toBeGreaterThan(0);
    }
  });

  test("a dry bucket of model calls is waited for, and ends nothing", async () => {
    const me = await consumer();
    await override({ tenant_id: me.tenant, resource_type: "llm_call", bucket: "per_minute", limit_value: 60 });
    await drain(me.tenant, "llm_call", 22);
    const { body } = await me.start({ wait_seconds: 30 });
    expect(body.status).toBe("completed");
    const metered = node.output;
    expect(metered).not.toContain("llm_call_failed");
  });

  test("a dry bucket of tools refuses the call with 2005, and the agent goes on", async () => {
    const me = await consumer([calls(["fs.list", { path: "/workspace" }]), say("gave up")]);
    await override({ tenant_id: me.tenant, resource_type: "seal_tool:fs.*", bucket: "hourly", limit_value: 0 });
    const { body } = await me.start({ wait_seconds: 30 });
    expect([body.status, body.output]).toEqual(["completed", "gave up"]);
    const record = (await me.call("GET", `/v1/executions/${body.execution_id}`)).body;
    expect(record.iterations[0].policy_violations ?? record.iterations[0].trajectory).toBeDefined();
    const [call] = record.iterations[0].trajectory;
    expect([call.status, JSON.parse(call.result_json)]).toEqual([
      "refused",
      expect.objectContaining({ code: "rate_limited", error_code: 2005, retry_after_seconds: expect.any(Number) }),
    ]);
  });

  test("most of a window used is told once, in the log and by the execution's events", async () => {
    const me = await consumer();
    await override({ tenant_id: me.tenant, resource_type: "llm_call", bucket: "hourly", limit_value: 1 });
    const { body } = await me.start({ wait_seconds: 30 });
    expect(body.status).toBe("completed");
    const events = await (
      await fetch(
        `${node.url}/v1/executions/${body.execution_id}/events?token=${await node.token({ username: me.sub, sub: me.sub }, "svc-consumer")}`,
      )
    ).text();
    expect(events).toContain('"resource_type":"llm_call","bucket":"hourly"');
    await until(() => node.output.includes("rate_limit_warning"), { what: "the warning in the log" });
  });
});

test("what a workflow starts counts for its starter; judges count no start", async () => {
  const me = await consumer();
  const judge = manifest({
    name: `judge-${me.sub}`,
    script: [say(JSON.stringify({ score: 1, confidence: 1, reasoning: "x" }))],
  });
  expect((await me.call("POST", "/v1/agents", judge)).status).toBe(200);
  const judged = manifest({
    name: `judged-${me.sub}`,
    script: [say("done")],
    execution: {
      mode: "iterative",
      max_iterations: 1,
      validation: [{ type: "semantic", judge_agent: `judge-${me.sub}`, criteria: "x" }],
    },
  });
  expect(await me.call("POST", "/v1/agents", judged)).toMatchObject({ status: 200 });
  const workflow = {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name: "asks" },
    spec: {
      initial_state: "ASK",
      states: { ASK: { kind: "Agent", agent: `judged-${me.sub}`, input: "x", transitions: [] } },
    },
  };
  expect(await me.call("POST", "/v1/workflows", workflow)).toMatchObject({ status: 200 });
  const run = await me.call("POST", "/v1/workflows/asks/run", {});
  expect([run.status, run.headers.get("ratelimit-limit")]).toEqual([200, "2"]);
  await until(
    async () => (await me.call("GET", `/v1/workflows/executions/${run.body.execution_id}`)).body.status === "completed",
    { timeoutMs: 30_000, what: "the run to complete" },
  );
  for (const scope of ["user", "tenant"]) {
    expect(await me.used("workflow_execution.hourly", scope)).toMatchObject({ current_count: 1 });
    expect(await me.used("agent_execution.hourly", scope)).toMatchObject({ current_count: 1 });
    expect(await me.used("llm_call.hourly", scope)).toMatchObject({ current_count: 2 });
  }
}, 60_000);

test("counts outlive a restart of the node", async () => {
  const me = await consumer();
  expect((await me.start()).status).toBe(200);
  await node.stop();
  await node.start();
  expect((await me.start()).status).toBe(200);
  expect(await me.used("agent_execution.hourly")).toMatchObject({ current_count: 2 });
});
