/** A Redis that is flushed, or replaced by an empty one, while a node is at work: everything ends as it would have. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { limit, StimuliFixture, signed } from "../../features/stimuli/fixture.ts";
import { say } from "../../harness/manifests.ts";
import { startNodeProcess } from "../../harness/node/node-process.ts";
import { redisKind } from "../../harness/redis/kind.ts";
import { until } from "../../harness/until.ts";
import { OwnStores } from "../own-stores.ts";
import { end } from "../workflows/fixture.ts";

setDefaultTimeout(60_000);

/** What Redis held is there again so soon, ms. */
const filledAgainMs = 10_000;
const secret = "a-secret-for-the-loss";
const timeout = "4s";

let own: OwnStores;
let at: StimuliFixture;
let scheduled = "";
let sleeper = "";
let quick = "";

beforeAll(async () => {
  own = await OwnStores.start();
  const stores = { ...(await own.fresh()), dispose: async () => {} };
  await limit(stores, "svc-system", 10_000_000);
  at = new StimuliFixture(stores, await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn" } }));
  sleeper = await at.deploy({ script: [{ content: "late", delay_ms: 60_000 }] });
  quick = await at.deploy({ script: [say("done")] });
  await at.workflow("counted");
  const answer = JSON.stringify({ workflow: "counted", confidence: 1 });
  const router_agent = await at.deploy({ tools: [], script: [{ content: answer, delay_ms: 1000 }] });
  await at.ok("PUT", "/v1/stimulus-routes/router", { router_agent, timeout_seconds: 30 });
  await at.route({ source: "by-route", workflow: "counted", secret, acknowledge: "received" });
  await at.route({ source: "by-router", secret, acknowledge: "received" });
  const late = [{ condition: "on_timeout", target: "LATE" }];
  await at.register("late", { WORK: { kind: "System", command: "sleep 60", timeout, transitions: late }, LATE: end });
  const approved = [{ condition: "approved", target: "LATE" }];
  const asks = { kind: "Human", prompt: "?", timeout, default_response: "yes", transitions: approved };
  await at.register("asks", { WORK: asks, LATE: end });
  scheduled = await at.deploy({ script: [say("by itself")], spec: { schedule: { type: "interval", seconds: 60 } } });
  // Manifests know minutes only; what is stored may be shorter. A change of any kind has the schedule settled anew.
  await stores.sql`
    update agent_versions set spec = jsonb_set(spec::jsonb, '{schedule,every_ms}', '1000'::jsonb)::json
    where agent_id = ${scheduled}`;
  for (const status of ["paused", "active"]) await at.ok("PATCH", `/v1/agents/${scheduled}`, { status });
  await until(async () => (await fires()) !== null, { timeoutMs: 15_000, what: "the schedule's first start" });
}, 60_000);

afterAll(async () => {
  await at?.node.dispose();
  await at?.stores.sql.end({ timeout: 2 });
  await own?.dispose();
});

/** The moment of the last start by schedule, Unix ms. */
async function fires(): Promise<number | null> {
  const [row] = await at.stores.sql<{ at: Date }[]>`
    select fire_at as at from schedule_fires where agent_id = ${scheduled}`;
  return row?.at.getTime() ?? null;
}

async function flush(): Promise<void> {
  const redis = openRedis(own.redisUrl);
  for (let round = 0; round < 3; round++) {
    await redis.flushall();
    // Between two flushes the node puts some of it back.
    await Bun.sleep(100);
  }
  redis.disconnect();
}

/** Starts executions and sends deliveries until it is told to stop. @returns those that were accepted */
function load() {
  const executions: string[] = [];
  const stimuli: string[] = [];
  let isOver = false;
  let next = 0;
  const one = async () => {
    while (!isOver) {
      const turn = next++;
      const body = `delivery ${turn}`;
      const key = { "X-Idempotency-Key": crypto.randomUUID() };
      const source = turn % 20 === 0 ? "by-router" : "by-route";
      const sent =
        turn % 8 === 1
          ? at.node.call("POST", "/v1/executions", { agent_id: quick, input: "x" })
          : at.hook(source, body, { signature: signed(body, secret), headers: key });
      const answer = await sent.catch(() => null);
      if (answer?.status === 200 && answer.body.execution_id) executions.push(answer.body.execution_id);
      if (answer?.status === 202) stimuli.push(answer.body.stimulus_id);
      expect([200, 202, 503]).toContain(answer?.status ?? 0);
      // A pace of the load.
      await Bun.sleep(20);
    }
  };
  const all = Promise.all(Array.from({ length: 4 }, one));
  return {
    executions,
    stimuli,
    async stop() {
      isOver = true;
      await all;
    },
  };
}

// A Cluster has other servers to flush, and no empty one takes the place of all of them.
test.skipIf(redisKind !== "single").each<[string, () => Promise<void>]>([
  ["flushed three times", flush],
  ["killed and replaced by an empty one", () => own.replaceRedis()],
])("%s under load", async (_, lose) => {
  const { body } = await at.node.call("POST", "/v1/executions", {
    agent_id: sleeper,
    input: "x",
    timeout_seconds: 4,
  });
  const runs = await Promise.all(["late", "asks", "late", "asks"].map((name) => at.start(name)));
  const loaded = load();
  let lostAt = 0;
  try {
    await until(() => loaded.stimuli.length > 60 && loaded.executions.length > 3, { what: "load" });
    await lose();
    lostAt = Date.now();
    const before = loaded.stimuli.length;

    await until(async () => ((await fires()) ?? 0) > lostAt, { timeoutMs: filledAgainMs, what: "a start by schedule" });
    await until(() => loaded.stimuli.length > before + 20, { timeoutMs: filledAgainMs, what: "load after it" });
  } finally {
    await loaded.stop();
  }

  const ended = (id: string) => at.ok("GET", `/v1/executions/${id}`);
  const late = await until(
    async () => {
      const record = await ended(body.execution_id);
      return record.ended_at === null ? null : record;
    },
    { timeoutMs: filledAgainMs, what: "the deadline" },
  );
  expect(late.status).toBe("timed_out");
  for (const id of runs) {
    const record = await at.ended(id);
    expect(record).toMatchObject({ status: "completed", current_state: "LATE" });
    expect(Date.parse(record.ended_at) - lostAt).toBeLessThan(filledAgainMs);
  }
  await until(
    async () => (await Promise.all(loaded.executions.map(ended))).every(({ status }) => status === "completed"),
    { timeoutMs: 20_000, what: "every execution to complete", everyMs: 100 },
  );
  const ids = loaded.stimuli;
  const [counts] = await until(
    async () => {
      const rows = await at.stores.sql<{ open: number; classified: number; runs: number }[]>`
        select count(*) filter (where status = 'received')::int as open,
          count(*) filter (where status = 'classified')::int as classified,
          (select count(*)::int from workflow_runs where stimulus_id::text = any(${ids}::text[])) as runs
        from stimuli where id::text = any(${ids}::text[])`;
      return rows[0]?.open === 0 ? rows : null;
    },
    { timeoutMs: 30_000, what: "every stimulus to be processed", everyMs: 100 },
  );
  expect(counts).toEqual({ open: 0, classified: ids.length, runs: ids.length });
});
