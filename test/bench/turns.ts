/** How many durable turns a node makes a second, over many actors and on one. */
import { texts } from "../../src/store/postgres/array-literal.ts";
import { openRedis } from "../../src/store/redis/connections.ts";
import { startTestNode, type TestNode } from "../harness/runtime/runtime.ts";
import { type BenchStores, durability } from "./stores.ts";
import { pumped, type Row } from "./table.ts";

const pad = "x".repeat(250);
const batch = 512;

export async function benchTurns(stores: BenchStores): Promise<Row[]> {
  const floorMany = await floor(stores, 40_000, 2000);
  const floorHot = await floor(stores, 40_000, 1);
  const node = await startTestNode({ ...stores, prefix: "bench" }, { partitions: 64, leaseTtlMs: 5000 });
  try {
    await turns(node, 5000, 2000);
    const many = await turns(node, 80_000, 2000);
    const hot = await turns(node, 40_000, 1);
    const floorIs = "XADD of the same messages, then one upsert per actor and batch of 512, no runtime";
    const note = `300-byte messages, ask and answer, 2,000 in flight, ${durability}`;
    return [
      {
        name: "durable turns, 2,000 actors",
        unit: "/s",
        value: many,
        floor: floorMany,
        floorIs,
        goal: ">= 12,000",
        note,
      },
      {
        name: "durable turns, one hot actor",
        unit: "/s",
        value: hot,
        floor: floorHot,
        floorIs,
        goal: ">= 6,000",
        note,
      },
    ];
  } finally {
    await node.stop();
  }
}

async function turns({ runtime }: TestNode, count: number, actors: number): Promise<number> {
  const { totalMs } = await pumped(count, 2000, (index) =>
    runtime.ask({ kind: "counter", key: `actor-${index % actors}`, tenant: "bench" }, "add", { pad }),
  );
  return (count / totalMs) * 1000;
}

/** The two stores doing the least that durability asks for: every message appended, every batch committed. */
async function floor({ sql, redisUrl }: BenchStores, count: number, actors: number): Promise<number> {
  const redis = openRedis(redisUrl);
  await sql`create table if not exists bench_floor (key text primary key, state text)`;
  const body = JSON.stringify({ pad });
  const started = performance.now();
  for (let start = 0; start < count; start += batch) {
    const keys = Array.from({ length: batch }, (_, index) => `actor-${(start + index) % actors}`);
    await Promise.all(keys.map((key) => redis.xadd("bench:floor", "*", "m", key + body)));
    const distinct = [...new Set(keys)];
    await sql.unsafe(
      "insert into bench_floor select * from unnest($1::text[], $2::text[]) on conflict (key) do update set state = excluded.state",
      [texts(distinct), texts(distinct.map(() => body))],
      { prepare: true },
    );
  }
  const perSecond = (count / (performance.now() - started)) * 1000;
  await redis.del("bench:floor");
  redis.disconnect();
  return perSecond;
}
