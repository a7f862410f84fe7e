/** The number of partitions changes while the nodes are stopped; what waited goes on. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { partitionOf } from "../../../src/runtime/mailbox/partition.ts";
import type { Sql } from "../../../src/store/postgres/pool.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import type { StoreAddress } from "../../harness/runtime/runtime.ts";
import { until } from "../../harness/until.ts";
import { Cluster } from "../cluster.ts";
import { Load } from "../load.ts";
import { OwnStores } from "../own-stores.ts";
import { gateKey } from "../protocol.ts";

const program = join(import.meta.dir, "../../../src/programs/partitions/main.ts");

let own: OwnStores;
beforeAll(async () => {
  own = await OwnStores.start();
}, 60_000);
afterAll(async () => {
  await own.dispose();
});

function start(stores: StoreAddress, to: number | string) {
  return Bun.spawn([process.execPath, program, "resize", String(to)], {
    env: {
      PATH: process.env.PATH ?? "",
      SVC_MODE: "development",
      DATABASE_URL: stores.databaseUrl,
      ...redisOf(stores),
      SVC_DATABASE_SCHEMA: stores.schema,
      SVC_REDIS_PREFIX: stores.prefix,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** The settings of Redis as the run has it. */
function redisOf({ redisUrl, redisServers }: StoreAddress): Record<string, string> {
  if (typeof redisServers === "object" && "cluster" in redisServers) {
    return { REDIS_CLUSTER: redisServers.cluster.map(({ host, port }) => `${host}:${port}`).join(",") };
  }
  return { REDIS_URL: redisUrl };
}

async function resize(stores: StoreAddress, to: number | string) {
  const child = start(stores, to);
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { out, err, code: await child.exited };
}

const partitionsOf = async (sql: Sql) => (await sql`select 1 from runtime_partitions`).length;

test("messages, effects, timers, work and parked messages go on among other partitions", async () => {
  const { sql, ...stores } = await own.fresh();
  const cluster = new Cluster(stores);
  const redis = openRedis(stores.redisServers ?? stores.redisUrl);
  try {
    const [first, second] = [await cluster.start(), await cluster.start()];
    const load = new Load(cluster, sql);
    await load.more(100);
    const names = Array.from({ length: 12 }, (_, index) => `key-other-${index}`);
    for (const [index, name] of names.entries()) {
      await first.ask(name, "wakeAt", { timer: "soon", at: Date.now() + 500 * index });
      await first.ask(name, "wakeAt", { timer: "late", at: Date.now() + 3_600_000 });
      await first.ask(name, "work", { activity: "gated", id: name, input: name });
      await first.tell(name, "hold", {});
      // No node knows it, so that what follows waits behind it.
      await first.tell(name, "sing", {});
      await first.tell(name, "add", { label: `behind ${name}` });
      load.alsoSent(
        { key: name, what: "seen", label: `behind ${name}` },
        { key: name, what: "seen", label: "woken:soon" },
        { key: name, what: "worked", label: name },
      );
    }
    const behind = async () => (await sql`select 1 from runtime_parked where need is null`).length;
    await until(async () => (await behind()) >= names.length, { what: "messages to wait for a version" });
    expect(await resize(stores, 3)).toMatchObject({ code: 1, err: expect.stringContaining("Nodes run") });

    // Its mailboxes fill, and effects for its actors stay in the outbox.
    cluster.freeze(second);
    await load.more(60);
    await cluster.killAll();
    const down = await resize(stores, 3);
    expect(down).toMatchObject({ code: 0, out: expect.stringMatching(/^8 partitions are 3 now; [1-9]\d* waiting/) });
    expect(await resize(stores, 3)).toMatchObject({ code: 0, out: "There are 3 partitions already\n" });

    const [third, fourth] = [await cluster.start({ partitions: 3 }), await cluster.start({ partitions: 3 })];
    await load.more(100);
    cluster.freeze(fourth);
    await load.more(60);
    await cluster.killAll();
    // As if the next version had known it.
    await sql`update runtime_parked set need = null, content = replace(content, '"sing"', '"release"') where need is not null`;
    expect(third.responsive).toBe(false);
    expect(await resize(stores, 16)).toMatchObject({ code: 0 });
    await redis.set(gateKey(stores.prefix), "1");
    for (let node = 0; node < 2; node++) await cluster.start({ partitions: 16 });
    await load.more(100);
    await load.settle(60_000);
    const left = async () =>
      (await sql`select 1 from runtime_parked union all select 1 from runtime_outbox where target is not null`).length;
    await until(async () => (await left()) === 0, { what: "nothing to wait", timeoutMs: 20_000 });
    const actors = await sql<{ kind: string; key: string; partition: number; timers: string | null }[]>`
      select kind, key, partition, timers from runtime_actors`;
    for (const { kind, key, partition } of actors) expect(partition).toBe(partitionOf(kind, key, 16));
    const timers = await sql<{ key: string; due: string; fence: string; partition: number }[]>`
      select key, due, fence, partition from runtime_timers order by key`;
    expect(timers.map(({ key }) => key)).toEqual([...names].sort());
    for (const { key, due, fence, partition } of timers) {
      expect(partition).toBe(partitionOf("counter", key, 16));
      const timer = actors.find((actor) => actor.key === key)?.timers ?? "{}";
      expect(JSON.parse(timer).late).toEqual([Number(due), Number(fence)]);
    }
  } finally {
    redis.disconnect();
    await cluster.killAll();
    await sql.end();
  }
}, 120_000);

test("a change that is killed in the middle has not happened, and a repeat makes it", async () => {
  const { sql, ...stores } = await own.fresh();
  const cluster = new Cluster(stores);
  try {
    const node = await cluster.start();
    const load = new Load(cluster, sql);
    await load.more(60);
    await cluster.kill(node);
    const held = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holding = sql.begin(async (tx) => {
      await tx`lock table runtime_timers in access exclusive mode`;
      held.resolve();
      await release.promise;
    });
    await held.promise;
    const child = start(stores, 3);
    const waits = async () =>
      (await sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'declare names%'`)
        .length > 0;
    await until(waits, { what: "the program to be in the middle", timeoutMs: 30_000 });
    child.kill("SIGKILL");
    await child.exited;
    release.resolve();
    await holding;
    await until(async () => !(await waits()), { what: "its transaction to end" });
    expect(await partitionsOf(sql)).toBe(8);
    const again = await cluster.start();
    await load.more(60);
    await cluster.kill(again);
    expect(await resize(stores, 3)).toMatchObject({ code: 0 });
    await expect(cluster.start()).rejects.toThrow();
    await cluster.start({ partitions: 3 });
    await load.more(60);
    await load.settle();
  } finally {
    await cluster.killAll();
    await sql.end();
  }
}, 90_000);

test("a node that was frozen meanwhile takes nothing more, and is told apart", async () => {
  const { sql, ...stores } = await own.fresh();
  const cluster = new Cluster(stores);
  try {
    const node = await cluster.start();
    const load = new Load(cluster, sql);
    await load.more(60);
    cluster.freeze(node);
    // As after two minutes.
    await sql`update runtime_nodes set heartbeat_at = now() - interval '2 minutes'`;
    // Like a node that was frozen between two parts of a statement: what it locked stays locked.
    const silent = await sql.reserve();
    await silent`begin`;
    await silent`lock table runtime_partitions in row exclusive mode`;
    expect(await resize(stores, 16)).toMatchObject({ code: 0 });
    await expect(silent`select 1`).rejects.toThrow();
    const later = await cluster.start({ partitions: 16 });
    await load.more(60);
    cluster.thaw(node);
    node.responsive = false;
    for (const key of ["a", "b", "c", "d", "e", "f"]) {
      await expect(node.tell(key, "add", { label: key })).rejects.toThrow("did not accept the message");
    }
    await until(async () => !(await node.status()).consuming && (await node.status()).partitions === 0, {
      what: "the node to give up",
    });
    expect(await sql`select distinct owner from runtime_partitions`).toHaveLength(1);
    await load.more(60);
    expect(later.responsive).toBe(true);
    await load.settle();
  } finally {
    await cluster.killAll();
    await sql.end();
  }
}, 90_000);

test("a number that is none, or out of bounds, is refused", async () => {
  const nowhere = { databaseUrl: "", schema: "", redisUrl: "", prefix: "" };
  const refused = await Promise.all(["0", "1025", "many", "-4", "3.5"].map((to) => resize(nowhere, to)));
  expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2]);
});
