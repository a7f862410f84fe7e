/** Agents that start by themselves, over real stores (docs/reference/agents.md). */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { StartRequest } from "../../../actors/execution/start/request.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { openSchedules, type Schedules, scheduleQueue } from "../../../src/features/schedules/service.ts";
import { openQueue } from "../../../src/store/queues.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
let nodes: Schedules[];
let started: { id: string; request: StartRequest }[];
let unfinished: Set<string>;
let refusal: Error | null;
let logged: string[];

beforeEach(async () => {
  stores = await freshStores();
  nodes = [];
  started = [];
  unfinished = new Set();
  refusal = null;
  logged = [];
});
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await stores.dispose();
});

/** A node's part in schedules. @param ahead how far its clock is before the real one, ms */
function open(ahead = 0, compareEveryMs = 200): Schedules {
  const node = openSchedules({
    sql: stores.sql,
    redisServers: stores.redisUrl,
    prefix: stores.prefix,
    resolve: async () => ({ spec: { task: { input_data: { lane: 7 } } } as never }),
    start: async (id, request) => {
      if (refusal !== null) throw refusal;
      if (!started.some((one) => one.id === id)) started.push({ id, request });
    },
    unfinished: async (ids) => new Set(ids.filter((id) => unfinished.has(id))),
    now: () => Date.now() + ahead,
    log: (event) => logged.push(event),
    compareEveryMs,
  });
  nodes.push(node);
  return node;
}

const interval = (every: number) => ({ type: "interval", every_ms: every });

/** Stores an agent as a deploy does. @param age since when it is so, ms */
async function deploy(schedule: object | null, age = 0): Promise<string> {
  const { sql } = stores;
  const [agent, version] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()];
  const at = new Date(Date.now() - age);
  await sql`
    insert into agents (agent_id, tenant, name, current_version_id, created_at, updated_at)
    values (${agent}, 'acme', ${agent}, ${version}, ${at}, ${at})`;
  await sql`
    insert into agent_versions (version_id, agent_id, tenant, version, revision, agent_type, labels, metadata, document,
      manifest_yaml, spec, deployed_at, deployed_by)
    values (${version}, ${agent}, 'acme', '1', 1, 'standard', '{}', '{}', '{}', '', ${JSON.stringify({ schedule })}::text::json,
      ${at}, 'deployer')`;
  return agent;
}

const count = (atLeast: number) => until(() => started.length >= atLeast, { what: `${atLeast} starts` });
async function schedulers(): Promise<string[]> {
  const { queue, close } = openQueue(scheduleQueue, { redisServers: stores.redisUrl, prefix: stores.prefix });
  const keys = (await queue.getJobSchedulers()).map(({ key }) => key);
  await close();
  return keys;
}

test("starts come on schedule, as the deployer, with the agent's input", async () => {
  const node = open(0, 60_000);
  const agentId = await deploy(interval(300));
  await node.watch({ agentId });
  await count(3);
  const { request } = started[0] as (typeof started)[0];
  expect(request).toMatchObject({ agentId, tenant: "acme", input: { lane: 7 }, starter: null });
  expect(request.origin).toMatchObject({
    trigger: "schedule",
    initiatingUserSub: "deployer",
    parent: null,
    exempt: false,
  });
  expect(new Set(started.map(({ id }) => id)).size).toBe(started.length);
});

test("several nodes start each moment once", async () => {
  const all = [open(), open(), open()];
  const agentId = await deploy(interval(400));
  const began = Date.now();
  await Promise.all(all.map((node) => node.watch({ agentId })));
  await count(4);
  expect(started.length).toBeLessThanOrEqual(Math.ceil((Date.now() - began) / 400) + 1);
});

test("while the run before is unfinished, moments are skipped", async () => {
  const node = open();
  const agentId = await deploy(interval(200));
  await node.watch({ agentId });
  await count(1);
  const [first] = started;
  unfinished.add(first?.id ?? "");
  await until(() => logged.filter((event) => event === "schedule_skipped").length >= 3);
  const soFar = started.length;
  expect(soFar).toBeLessThanOrEqual(2);
  unfinished.clear();
  await count(soFar + 1);
});

test.each(["paused", "archived"])("%s stops it, active again resumes it", async (status) => {
  const node = open(0, 60_000);
  const agentId = await deploy(interval(200));
  await node.watch({ agentId });
  await count(1);
  await stores.sql`update agents set status = ${status}, updated_at = now() where agent_id = ${agentId}`;
  await node.watch({ agentId });
  expect(await schedulers()).toEqual([]);
  await stores.sql`update agents set status = 'active', updated_at = now() where agent_id = ${agentId}`;
  const before = started.length;
  await node.watch({ agentId });
  expect(await schedulers()).toEqual([agentId]);
  await count(before + 1);
});

test("the comparison finds a lost change, a deleted agent and an emptied Redis", async () => {
  const node = open(0, 60_000);
  const gone = await deploy(interval(60_000));
  await node.watch({ agentId: gone });
  await stores.sql`update agents set deleted_at = now() where agent_id = ${gone}`;
  const kept = await deploy({ type: "cron", cron: "0 9 * * *", timezone: "Europe/Berlin" });
  // A comparison may be under way that looked before.
  const compared = async () => {
    await node.compare();
    return (await schedulers()).join() === kept;
  };
  await until(compared);
  const redis = openRedis(stores.redisUrl);
  await redis.unlink(...(await redis.keys(`${stores.prefix}:bull:schedules:*`)));
  redis.disconnect();
  expect(await schedulers()).toEqual([]);
  await until(compared);
});

test("another schedule takes the place of the one before", async () => {
  const node = open(0, 60_000);
  const agentId = await deploy({ type: "cron", cron: "0 9 * * *", timezone: "UTC" });
  await node.watch({ agentId });
  const spec = JSON.stringify({ schedule: interval(200) });
  await stores.sql`update agent_versions set spec = ${spec}::text::json where agent_id = ${agentId}`;
  await node.watch({ agentId });
  await count(1);
});

test("a moment missed while no node was there is made up for once", async () => {
  const before = open(0, 60_000);
  const hour = 3_600_000;
  // Deployed so that its moments are on the hour from a second ahead of now.
  const agentId = await deploy(interval(hour), hour - 1000);
  await before.watch({ agentId });
  await before.stop();
  nodes = [];
  await until(async () => (await dueIn(agentId)) < -200, { what: "the moment to be missed" });
  open();
  await count(1);
  open();
  await until(async () => (await dueIn(agentId)) > hour / 2, { what: "the next moment" });
  await judged();
  expect(started.length).toBe(1);
});

test("a cron expression rings in its time zone", async () => {
  const node = open(0, 60_000);
  // Seconds are beyond what manifests may say, and quicker.
  await node.watch({ agentId: await deploy({ type: "cron", cron: "* * * * * *", timezone: "Asia/Kolkata" }) });
  await count(2);
});

test("a moment missed by the scheduler or lost by Redis is made up for once", async () => {
  const agentId = await deploy(interval(3_600_000), 3_600_000 + 500);
  open(0, 60_000);
  await count(1);
  const redis = openRedis(stores.redisUrl);
  await redis.unlink(...(await redis.keys(`${stores.prefix}:bull:schedules:*`)));
  redis.disconnect();
  const node = open(0, 60_000);
  await until(async () => {
    await node.compare();
    return (await dueIn(agentId)) > 0;
  });
  expect(started.length).toBe(1);
});

test("a moment missed by more than five minutes starts nothing", async () => {
  const before = open(0, 60_000);
  const hour = 3_600_000;
  const agentId = await deploy(interval(hour), hour - 1000);
  await before.watch({ agentId });
  await before.stop();
  nodes = [];
  await until(async () => (await dueIn(agentId)) < 0, { what: "the moment to be missed" });
  open(6 * 60_000);
  await until(async () => (await dueIn(agentId)) > hour / 2, { what: "the next moment" });
  await judged();
  expect(started).toEqual([]);
});

/** Resolves when no job is under way: what rang has been judged. */
async function judged(): Promise<void> {
  const { queue, close } = openQueue(scheduleQueue, { redisServers: stores.redisUrl, prefix: stores.prefix });
  await until(async () => Object.values(await queue.getJobCounts("active", "wait")).every((jobs) => jobs === 0));
  await close();
}

/** Milliseconds until the agent's scheduler rings next. */
async function dueIn(agentId: string): Promise<number> {
  const { queue, close } = openQueue(scheduleQueue, { redisServers: stores.redisUrl, prefix: stores.prefix });
  const { next } = (await queue.getJobScheduler(agentId)) ?? {};
  await close();
  return (next ?? Number.NaN) - Date.now();
}

test("a refused start is told and not repeated", async () => {
  const node = open(0, 60_000);
  refusal = new Problem("agent_paused", "The agent is paused");
  const agentId = await deploy(interval(3_600_000), 3_600_000 - 500);
  await node.watch({ agentId });
  await until(() => logged.includes("schedule_refused"));
  await until(async () => (await dueIn(agentId)) > 0);
  expect(logged).toEqual(["schedule_refused"]);
});

test("a start that failed for no fault of its own is repeated under the same id", async () => {
  const node = open(0, 60_000);
  refusal = new Problem("service_unavailable", "Not now");
  await node.watch({ agentId: await deploy(interval(3_600_000), 3_600_000 - 500) });
  const claimed = await until(
    async () => (await stores.sql<{ execution_id: string }[]>`select execution_id from schedule_fires`)[0],
  );
  refusal = null;
  await count(1);
  expect(started.map(({ id }) => id)).toEqual([claimed.execution_id]);
});
