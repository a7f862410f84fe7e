/** Classification as jobs that any node takes up, and that no node, tenant or lost job holds up. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ConnectionOptions } from "bullmq";
import type { ClassificationJob } from "../../../../src/features/stimuli/classification/classify.ts";
import { Worker } from "../../../../src/store/bullmq.ts";
import { openBlockingRedis, openRedis } from "../../../../src/store/redis/connections.ts";
import { until } from "../../../harness/until.ts";
import { choice, openRouting, type Routing } from "./routing.ts";

let routing: Routing;
beforeAll(async () => {
  routing = await openRouting();
});
afterAll(() => routing?.close());

test("a caller gets another node's result, and neither asks twice", async () => {
  const other = await openRouting(routing.stores);
  try {
    const [asking, joining, working] = [other.node(), other.node(), other.node()];
    working.work();
    const team = other.newTenant();
    await other.workflow(team, "refund");
    const stimulus = await other.stimulus(team);
    const first = asking.classify(stimulus, other.router(team));
    await until(() => other.executions.started.length === 1, { what: "the start" });
    const id = other.executions.started[0]?.id ?? "";
    // Another driver of the same stimulus: the row tells it what was begun.
    const second = joining.classify({ ...stimulus, attempts: 2, routerExecutionId: id }, other.router(team));
    const third = asking.classify(stimulus, other.router(team));
    other.executions.end(id, choice("refund"));
    const outcomes = await Promise.all([first, second, third]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ workflow: "refund", detail: { router_execution_id: id } });
    }
    expect(other.executions.started).toHaveLength(1);
  } finally {
    await other.close();
  }
});

test("a job is taken over from a node that died, and its execution joined", async () => {
  const other = await openRouting(routing.stores);
  const connection = openBlockingRedis(other.stores.redisUrl);
  try {
    const team = other.newTenant();
    await other.workflow(team, "refund");
    const asking = other.node();
    const dying = new Worker<ClassificationJob>(
      "stimulus-classification",
      async ({ data }) => {
        await other.executions.startAs(data.execution_id, true, {} as never);
        await new Promise(() => {});
      },
      {
        connection: connection as ConnectionOptions,
        prefix: `${other.stores.prefix}:bull`,
        lockDuration: 400,
        stalledInterval: 400,
      },
    );
    const outcome = asking.classify(await other.stimulus(team), other.router(team));
    await until(() => other.executions.started.length === 1, { what: "the start" });
    // The job stays locked, as after a kill.
    await dying.close(true);
    other.node().work();
    other.executions.end(other.executions.started[0]?.id ?? "", choice("refund"));
    expect(await outcome).toMatchObject({ workflow: "refund" });
    expect(other.executions.started).toHaveLength(1);
  } finally {
    connection.disconnect();
    await other.close();
  }
});

test("a job that Redis lost is queued again", async () => {
  const other = await openRouting(routing.stores);
  const redis = openRedis(other.stores.redisUrl);
  try {
    const team = other.newTenant();
    await other.workflow(team, "refund");
    const asking = other.node();
    other.executions.onStart = () => choice("refund");
    const outcome = asking.classify(await other.stimulus(team), other.router(team));
    const jobs = () => redis.keys(`${other.stores.prefix}:bull:stimulus-classification:*`);
    const keys = await until(async () => (await jobs()).length > 2 && jobs(), { what: "the job" });
    await redis.del(...keys);
    other.node().work();
    expect(await outcome).toMatchObject({ workflow: "refund" });
  } finally {
    redis.disconnect();
    await other.close();
  }
});

test("without a node that takes jobs, or without Redis, there still is an answer", async () => {
  const other = await openRouting(routing.stores);
  const away = other.node({ redisServers: "redis://127.0.0.1:1" });
  try {
    const team = other.newTenant();
    const router = other.router(team, { timeoutSeconds: 0.2 });
    const outcomes = await Promise.all(
      [other.node(), away].map(async (one) => one.classify(await other.stimulus(team), router)),
    );
    for (const outcome of outcomes) expect(outcome).toMatchObject({ extras: { reason: "timed_out" } });
    expect(other.executions.cancelled).toHaveLength(2);
  } finally {
    await other.close();
  }
});

test("no more at once than a node may, and every one of them in the end", async () => {
  const other = await openRouting(routing.stores);
  try {
    const team = other.newTenant();
    await other.workflow(team, "refund");
    // Whoever asks has more of a tenant on the queue than the other one takes.
    const [asking, working] = [other.node({ concurrency: 40 }), other.node({ concurrency: 3 })];
    working.work();
    let most = 0;
    other.executions.onStart = (id) => {
      most = Math.max(most, other.executions.running.size + 1);
      setTimeout(() => other.executions.end(id, choice("refund")), 5);
      return null;
    };
    const all = Array.from({ length: 30 }, async () => asking.classify(await other.stimulus(team), other.router(team)));
    for (const outcome of await Promise.all(all)) expect(outcome).toMatchObject({ workflow: "refund" });
    expect(most).toBeLessThanOrEqual(3);
    expect(most).toBeGreaterThan(1);
    expect(new Set(other.executions.started.map(({ id }) => id)).size).toBe(30);
  } finally {
    await other.close();
  }
});

test("a tenant whose router hangs delays no other tenant", async () => {
  const other = await openRouting(routing.stores);
  try {
    const [stuck, brisk] = [other.newTenant(), other.newTenant()];
    await other.workflow(brisk, "refund");
    const busy = other.node({ concurrency: 8 });
    busy.work();
    other.executions.onStart = (_, { tenant: whose }) => (whose === brisk ? choice("refund") : null);
    const hanging = Array.from({ length: 12 }, async () =>
      busy.classify(await other.stimulus(stuck), other.router(stuck, { timeoutSeconds: 3 })),
    );
    await until(() => other.executions.running.size === 2, { what: "the first of them" });
    let ended = 0;
    for (const one of hanging) void one.then(() => ended++);
    expect(await busy.classify(await other.stimulus(brisk), other.router(brisk))).toMatchObject({ workflow: "refund" });
    expect(ended).toBe(0);
    for (const outcome of await Promise.all(hanging))
      expect(outcome).toMatchObject({ extras: { reason: "timed_out" } });
    expect(other.executions.running.size).toBe(0);
  } finally {
    await other.close();
  }
});
