/**
 * Workflows: how fast runs start and go from state to state, how soon a decision is felt, and what runs that wait for a
 * person cost.
 */
import { systemTenant } from "../../actors/identity/identity.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { openRedis } from "../../src/store/redis/connections.ts";
import { liftRates } from "../harness/rates.ts";
import { until } from "../harness/until.ts";
import { bareApproval, bareList, bareTransitions } from "./floors/bare-workflows.ts";
import { type BenchService, residentMiB, startBenchService } from "./service.ts";
import { startFloor } from "./starts.ts";
import { type BenchStores, durability } from "./stores.ts";
import { percentile, pumped, type Row } from "./table.ts";

const decisions = 500;
const loops = 500;
/** Entries of each of the looping runs: the most a run may have. */
const entries = 100;
const waiting = 100_000;
/** A node forgets idle actors after this long. */
const idleSeconds = 5;

const noop = { kind: "System", command: "noop" };
const ring = ["A", "B", "C", "D", "E", "F"];
const looping = {
  spec: {
    initial_state: "A",
    max_total_transitions: entries,
    states: Object.fromEntries(
      ring.map((name, index) => [
        name,
        { ...noop, max_state_visits: 20, transitions: [{ target: ring[(index + 1) % ring.length] }] },
      ]),
    ),
  },
};
const asking = {
  spec: {
    initial_state: "ASK",
    states: {
      ASK: {
        kind: "Human",
        prompt: "Release {{input.invoice}}?",
        timeout: "24h",
        transitions: [{ condition: "approved", target: "DONE" }],
      },
      DONE: { ...noop, transitions: [] },
    },
  },
};

export async function benchWorkflows(stores: BenchStores): Promise<Row[]> {
  const name = "workflows";
  const service = await startBenchService(stores, name, [], { SVC_ACTOR_IDLE_SECONDS: String(idleSeconds) });
  const sql = openPostgres({ url: stores.databaseUrl, schema: name, poolSize: 4 });
  try {
    await liftRates(sql, systemTenant);
    await register(service, "asks", asking);
    await register(service, "loops", looping);
    return [
      ...(await benchTransitions(service, sql, stores)),
      ...(await benchDecisions(service, stores)),
      ...(await benchWaiting(service, sql, stores)),
    ];
  } finally {
    await sql.end({ timeout: 2 });
    await service.stop();
  }
}

async function register(service: BenchService, name: string, body: object): Promise<void> {
  const manifest = { apiVersion: "svc.dev/v1", kind: "Workflow", metadata: { name }, ...body };
  const answer = await service.post("/v1/workflows?force=true", manifest);
  if (!answer.ok) throw new Error(`register: ${answer.status} ${await answer.text()}`);
}

async function start(service: BenchService, name: string, invoice: string): Promise<string> {
  const answer = await service.post(`/v1/workflows/${name}/run`, { input: { invoice } });
  if (!answer.ok) throw new Error(`start: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { execution_id: string }).execution_id;
}

async function benchTransitions(service: BenchService, sql: Sql, stores: BenchStores): Promise<Row[]> {
  const unfinished = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from workflow_runs where workflow_name = 'loops' and ended_at is null`;
    return row?.count ?? 0;
  };
  const run = async (count: number) => {
    const started = performance.now();
    await pumped(count, 32, () => start(service, "loops", "x"));
    await until(async () => (await unfinished()) === 0, { what: "the runs to end", timeoutMs: 120_000 });
    return performance.now() - started;
  };
  await run(100);
  const totalMs = await run(loops);
  return [
    {
      name: "workflow transitions, 500 runs at once",
      unit: "/s",
      value: (loops * entries * 1000) / totalMs,
      floor: await bareTransitions(stores.sql, loops * entries),
      floorIs: "the same rows in batches of 250, one INSERT each",
      goal: ">= 3,000",
      note: `starts included, every result and entry committed, ${durability}`,
    },
  ];
}

async function benchDecisions(service: BenchService, stores: BenchStores): Promise<Row[]> {
  const samples: number[] = [];
  for (let count = 0; count < decisions + 100; count++) {
    const id = await start(service, "asks", `INV-${count}`);
    const ms = await decide(service, id);
    if (count >= 100) samples.push(ms);
  }
  const floor = await bareApproval(stores.sql, decisions);
  const row = (share: string, value: number, bare: number, goal: string): Row => ({
    name: `approve → next state entered, ${share}`,
    unit: "ms",
    value,
    floor: bare,
    floorIs: "bare Bun server, one committed UPDATE, one event sent",
    goal,
    note: `from the request to the event at a client that follows the run, c=1, ${durability}`,
  });
  return [
    row("p50", percentile(samples, 0.5), percentile(floor, 0.5), "<= 3"),
    row("p99", percentile(samples, 0.99), percentile(floor, 0.99), "<= 7"),
  ];
}

/** From sending the decision to hearing that the next state was entered, ms. */
async function decide(service: BenchService, id: string): Promise<number> {
  const headers = { Authorization: `Bearer ${service.token}` };
  const stream = await fetch(`${service.url}/v1/workflows/executions/${id}/logs/stream`, { headers });
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let heard = "";
  const hear = async (text: string) => {
    while (!heard.includes(text)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`the stream ended before ${text}`);
      heard += decoder.decode(value, { stream: true });
    }
  };
  await hear("HumanInputRequested");
  const approval = /"approval_id":"([^"]+)"/.exec(heard)?.[1];
  const at = performance.now();
  const answered = service.post(`/v1/human-approvals/${approval}/approve`, {});
  await hear('"state_name":"DONE"');
  const ms = performance.now() - at;
  const answer = await answered;
  if (!answer.ok) throw new Error(`approve: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
  await reader.cancel();
  return ms;
}

async function benchWaiting(service: BenchService, sql: Sql, stores: BenchStores): Promise<Row[]> {
  const redis = openRedis(stores.redisUrl);
  const settled = async () => {
    await Bun.sleep((idleSeconds + 3) * 1000);
    return { redis: await usedBytes(redis), resident: await residentMiB(service.pid) };
  };
  const alone = await pumped(500, 1, (index) => start(service, "asks", `INV-${index}`));
  const before = await settled();
  const among = await pumped(waiting, 32, (index) => start(service, "asks", `INV-${index}`));
  const after = await settled();
  redis.disconnect();
  const floor = await startFloor(stores);
  const list = async () => {
    const answer = await fetch(`${service.url}/v1/human-approvals`, {
      headers: { Authorization: `Bearer ${service.token}` },
    });
    if (!answer.ok) throw new Error(`list: ${answer.status}`);
    await answer.arrayBuffer();
  };
  await pumped(50, 1, list);
  const listing = await pumped(500, 1, list);
  const bare = await bareList(sql);
  const note = `${waiting.toLocaleString("en-US")} runs that wait for a person`;
  return [
    {
      name: "POST …/run c=1, p50",
      unit: "ms",
      value: percentile(alone.samples, 0.5),
      floor: floor.aloneP50,
      floorIs: "bare Bun server, one committed INSERT per request",
      goal: "–",
      note: `rate limits debited, approval opened in the same commit, ${durability}`,
    },
    {
      name: "POST …/run c=32",
      unit: "/s",
      value: (waiting / among.totalMs) * 1000,
      floor: floor.perSecond,
      floorIs: "bare Bun server, one committed INSERT per request",
      goal: ">= 3,000",
      note: `likewise, p99 ${percentile(among.samples, 0.99).toFixed(1)} ms`,
    },
    {
      name: "Redis for a waiting run",
      unit: "bytes",
      value: (after.redis - before.redis) / waiting,
      floor: await bareTimer(stores),
      floorIs: "one delayed BullMQ job with an empty payload",
      goal: "< 3,072",
      note,
    },
    {
      name: "node memory for a waiting run",
      unit: "bytes",
      value: ((after.resident - before.resident) * 2 ** 20) / waiting,
      floor: 1,
      floorIs: "nothing",
      goal: "none",
      note: `${note}; resident ${Math.round(before.resident)} MiB before, ${Math.round(after.resident)} MiB after`,
    },
    {
      name: "GET /v1/human-approvals, p99",
      unit: "ms",
      value: percentile(listing.samples, 0.99),
      floor: percentile(bare, 0.99),
      floorIs: "bare Bun server, the same rows as they lie in the table",
      goal: "<= 20",
      note: `500 of ${note}, c=1`,
    },
  ];
}

async function usedBytes(redis: ReturnType<typeof openRedis>): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info("memory"))?.[1]);
}

/** Bytes of Redis that a delayed job takes which says nothing. */
async function bareTimer({ redisUrl }: BenchStores): Promise<number> {
  const { Queue } = await import("../../src/store/bullmq.ts");
  const redis = openRedis(redisUrl);
  const queue = new Queue("bare", { connection: redis, prefix: "bare" });
  const count = 5_000;
  const before = await usedBytes(redis);
  for (let batch = 0; batch < count; batch += 500) {
    const jobs = Array.from({ length: 500 }, (_, index) => ({
      name: "timer",
      data: {},
      opts: { delay: 86_400_000, jobId: crypto.randomUUID() + index },
    }));
    await queue.addBulk(jobs);
  }
  const bytes = ((await usedBytes(redis)) - before) / count;
  await queue.obliterate({ force: true });
  await queue.close();
  redis.disconnect();
  return bytes;
}
