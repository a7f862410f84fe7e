import { afterAll, expect, test } from "bun:test";
import { openRedis } from "../../src/store/redis/connections.ts";
import { freshStores, type TestStores } from "./stores.ts";

const made: TestStores[] = [];
afterAll(async () => {
  for (const stores of made) await stores.dispose();
});

test("each call yields a migrated database and its own prefix; dispose leaves nothing", async () => {
  const first = await freshStores();
  const second = await freshStores();
  made.push(first, second);
  expect(first.schema).not.toBe(second.schema);
  await first.sql`create table only_here (id int)`;
  const tables =
    await second.sql`select 1 from pg_tables where schemaname = ${second.schema} and tablename = 'only_here'`;
  expect(tables.length).toBe(0);
  const [row] = await second.sql<{ count: string }[]>`select count(*) from migrations`;
  expect(Number(row?.count)).toBeGreaterThan(0);

  const redis = openRedis(first.redisServers ?? first.redisUrl);
  await redis.set(`${first.prefix}:key`, "1");
  await redis.set(`${second.prefix}:key`, "1");
  await first.dispose();
  expect(await redis.exists(`${first.prefix}:key`)).toBe(0);
  expect(await redis.exists(`${second.prefix}:key`)).toBe(1);
  redis.disconnect();
  expect((await second.sql`select 1 from pg_database where datname = ${first.schema}`).length).toBe(0);
});
