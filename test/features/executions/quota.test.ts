/** Concurrency quotas (docs/reference/identity.md), through the API of one node and of two. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { executionQuota, type Quota, usualTerms } from "../../../actors/policy/quota.ts";
import { unlimited } from "../../../actors/policy/rates/resources.ts";
import { executionRecords } from "../../../src/features/executions/records.ts";
import { openConcurrency } from "../../../src/features/executions/start/concurrency.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { manifest, say } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { setRates } from "../../harness/rates.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

const slow = { content: "late", delay_ms: 30_000 };
let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn" } });
});
afterAll(async () => {
  await node.dispose();
  await stores.dispose();
});

/** A consumer nobody else is. */
async function newUser(tier = "free", on = node) {
  const sub = crypto.randomUUID();
  const tenant = `u-${sub.replaceAll("-", "")}`;
  // The rate of starts would refuse what is to be refused here for their number at once.
  await setRates(stores.sql, tenant, "agent_execution", unlimited);
  const bearer = await on.token({ username: sub, sub, tier }, "svc-consumer");
  const headers = { Authorization: `Bearer ${bearer}` };
  const deployed = await on.call("POST", "/v1/agents", manifest({ script: [slow] }), headers);
  const quick = await on.call("POST", "/v1/agents", manifest({ script: [say("done")] }), headers);
  expect([deployed.status, quick.status]).toEqual([200, 200]);
  return {
    tenant,
    deploy: (query: string) => on.call("POST", `/v1/agents${query}`, manifest({ name: crypto.randomUUID() }), headers),
    start: (body: Record<string, unknown> = {}, at = on, more: Record<string, string> = {}) =>
      at.call(
        "POST",
        "/v1/executions",
        { agent_id: deployed.body.agent_id, input: "", ...body },
        { ...headers, ...more },
      ),
    quick: () =>
      on.call("POST", "/v1/executions", { agent_id: quick.body.agent_id, input: "", wait_seconds: 30 }, headers),
    cancel: (id: string) => on.call("POST", `/v1/executions/${id}/cancel`, {}, headers),
    erase: (id: string) => on.call("DELETE", `/v1/executions/${id}`, undefined, headers),
    count: async () => (await on.call("GET", "/v1/executions?status=pending,running", undefined, headers)).body.count,
  };
}

describe("a free tenant", () => {
  test("the third start is refused; after one ends it is accepted at once", async () => {
    const me = await newUser();
    const first = await me.start();
    expect([first.status, (await me.start()).status]).toEqual([200, 200]);
    const third = await me.start();
    expect(third.status).toBe(429);
    expect(third.headers.get("retry-after")).toBe("5");
    expect(third.body).toMatchObject({
      code: "quota_exceeded",
      quota: "max_concurrent_executions",
      limit: 2,
      used: 2,
      tier: "free",
    });
    await me.cancel(first.body.execution_id);
    expect((await me.start()).status).toBe(200);
    expect((await me.start()).status).toBe(429);
  });

  test("of fifty parallel starts exactly two are accepted; refused ones leave no record", async () => {
    const me = await newUser();
    const answers = await Promise.all(Array.from({ length: 50 }, () => me.start()));
    expect(answers.filter(({ status }) => status === 200).length).toBe(2);
    expect(answers.filter(({ status }) => status === 429).length).toBe(48);
    expect(await me.count()).toBe(2);
  });

  test("runs one after another for ever: an end makes room without anything being swept", async () => {
    const me = await newUser();
    for (let run = 0; run < 6; run++) expect((await me.quick()).body).toMatchObject({ status: "completed" });
  });

  test("a deleted execution makes room", async () => {
    const me = await newUser();
    const { body } = await me.start();
    await me.start();
    expect((await me.erase(body.execution_id)).status).toBe(200);
    expect((await me.start()).status).toBe(200);
  });

  test("a start that is refused for another reason takes no place", async () => {
    const me = await newUser();
    for (let start = 0; start < 4; start++) expect((await me.start({ version: "9" })).status).toBe(404);
    expect([(await me.start()).status, (await me.start()).status]).toEqual([200, 200]);
  });

  test("the same Idempotency-Key takes one place", async () => {
    const me = await newUser();
    const key = { "Idempotency-Key": crypto.randomUUID() };
    const [first, again] = [await me.start({}, node, key), await me.start({}, node, key)];
    expect(again.body.execution_id).toBe(first.body.execution_id);
    expect([(await me.start()).status, (await me.start()).status]).toEqual([200, 429]);
  });

  test("judges of a tenant at its limit are counted and never refused", async () => {
    const headers = { Authorization: `Bearer ${await node.token({ username: crypto.randomUUID() }, "svc-consumer")}` };
    const verdict = { content: '{"score":1,"confidence":1}', delay_ms: 1000 };
    const judge = { name: "judge", script: [verdict] };
    expect((await node.call("POST", "/v1/agents", manifest(judge), headers)).status).toBe(200);
    const validation = [{ type: "semantic", judge_agent: "judge", criteria: "good" }];
    const judged = manifest({ script: [say("done")], execution: { validation } });
    const agent = (await node.call("POST", "/v1/agents", judged, headers)).body.agent_id;
    const start = () => node.call("POST", "/v1/executions", { agent_id: agent, input: "" }, headers);
    // Both have their places before others try: those tries must be the ones refused.
    const both = await Promise.all([start(), start()]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    const used = await until(
      async () => {
        const { body } = await start();
        return body.used >= 3 ? body.used : null;
      },
      { timeoutMs: 20_000, what: "a judge to be counted" },
    );
    expect(used).toBeLessThanOrEqual(4);
    const ends = both.map(({ body }) =>
      node.call("GET", `/v1/executions/${body.execution_id}?wait_seconds=30`, undefined, headers),
    );
    expect((await Promise.all(ends)).map(({ body }) => body.status)).toEqual(["completed", "completed"]);
  }, 60_000);

  test("what Redis forgets is counted again from the records", async () => {
    const me = await newUser();
    expect([(await me.start()).status, (await me.start()).status]).toEqual([200, 200]);
    const redis = openRedis(stores.redisUrl);
    const keys = await redis.keys(`${stores.prefix}:under-way:*`);
    await redis.del(...keys);
    redis.disconnect();
    expect((await me.start()).status).toBe(429);
  });

  test("two nodes together accept no more than the limit", async () => {
    const other = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn" } });
    const me = await newUser();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => me.start({}, index % 2 === 0 ? node : other)),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBe(2);
    await other.dispose();
  });
});

test("higher tiers may have more under way; the system's tenant any number", async () => {
  const me = await newUser("pro");
  const answers = await Promise.all(Array.from({ length: 12 }, () => me.start()));
  expect(answers.filter(({ status }) => status === 200).length).toBe(10);
  expect(answers.find(({ status }) => status === 429)?.body).toMatchObject({ limit: 10, tier: "pro" });
  expect(executionQuota(usualTerms("svc-system"))).toEqual({ limit: null, tier: "system" });
});

test("what is set for a tenant itself holds in place of its tier's quotas", async () => {
  const me = await newUser();
  await stores.sql`update tenants set max_concurrent_executions = 1, max_agents = 2 where slug = ${me.tenant}`;
  const refused = await until(
    async () => {
      const answer = await me.deploy("?dry_run=true");
      return answer.status === 402 ? answer : null;
    },
    { timeoutMs: 20_000, what: "the quotas to be known to the node" },
  );
  expect(refused.body).toMatchObject({ code: "quota_exceeded", quota: "max_agents", limit: 2, used: 2, tier: "free" });
  expect((await me.start()).status).toBe(200);
  const second = await me.start();
  expect([second.status, second.body]).toMatchObject([429, { limit: 1, used: 1, tier: "free" }]);
});

describe("reservations", () => {
  const quota: Quota = { limit: 2, tier: "free" };
  let tenant: string;
  const id = () => crypto.randomUUID();
  const open = (settings: { graceMs?: number; compareEveryMs?: number; redisServers?: string } = {}) =>
    openConcurrency({
      redisServers: stores.redisUrl,
      prefix: stores.prefix,
      records: executionRecords(stores.sql),
      ...settings,
    });
  const refusal = (work: Promise<void>) =>
    work.then(
      () => null,
      (error: unknown) => error,
    );
  beforeEach(() => {
    tenant = `u-${crypto.randomUUID().replaceAll("-", "")}`;
  });

  test("that a crash left without a record go after the grace, not before", async () => {
    const concurrency = open({ graceMs: 1_500 });
    await concurrency.reserve(tenant, id(), quota, false);
    await concurrency.reserve(tenant, id(), quota, false);
    expect(await refusal(concurrency.reserve(tenant, id(), quota, false))).toMatchObject({ status: 429 });
    const begun = Date.now();
    await until(async () => (await refusal(concurrency.reserve(tenant, id(), quota, false))) === null, {
      timeoutMs: 5000,
      what: "the place to be free",
    });
    expect(Date.now() - begun).toBeGreaterThan(300);
    await concurrency.close();
  });

  test("of exempt executions are counted and never refused", async () => {
    const concurrency = open();
    for (let child = 0; child < 5; child++) await concurrency.reserve(tenant, id(), quota, true);
    expect(await refusal(concurrency.reserve(tenant, id(), quota, false))).toMatchObject({ extras: { used: 5 } });
    await concurrency.close();
  });

  test("that were lost in part come back while others are still known", async () => {
    const concurrency = open({ compareEveryMs: 0 });
    const kept = id();
    await stores.sql`
      insert into executions (execution_id, tenant, agent_id, status, created_at, started_at)
      values (${id()}, ${tenant}, ${id()}, 'running', now(), now())`;
    await concurrency.reserve(tenant, kept, quota, false);
    const redis = openRedis(stores.redisUrl);
    const key = `${stores.prefix}:under-way:{${tenant}}`;
    for (const member of await redis.zrange(key, "0", "-1"))
      if (member !== kept && member !== "") await redis.zrem(key, member);
    expect(await redis.zcard(key)).toBe(2);
    await until(
      async () => {
        await concurrency.reserve(tenant, kept, quota, false);
        return (await redis.zcard(key)) === 3;
      },
      { timeoutMs: 5000, what: "the lost one to be counted" },
    );
    redis.disconnect();
    await concurrency.close();
  });

  test("while Redis is away starts are refused and no caller waits for ever", async () => {
    const concurrency = open({ redisServers: "redis://127.0.0.1:1" });
    expect(await refusal(concurrency.reserve(tenant, id(), quota, false))).toMatchObject({
      code: "limiter_unavailable",
      status: 503,
    });
    await concurrency.release(tenant, id());
    await concurrency.close();
  });

  test("cost a tenant without a limit nothing", async () => {
    const concurrency = open({ redisServers: "redis://127.0.0.1:1" });
    await concurrency.reserve("svc-system", id(), { limit: null, tier: "system" }, false);
    await concurrency.close();
  });
});
