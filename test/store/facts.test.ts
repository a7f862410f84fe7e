/** What a node says of its stores when it starts. */
import { expect, test } from "bun:test";
import { type DatabaseFacts, databaseWeaknesses } from "../../src/store/postgres/facts.ts";
import { type RedisFacts, redisRefusal, redisWeaknesses } from "../../src/store/redis/facts.ts";

const database: DatabaseFacts = {
  pooled: false,
  host: 0,
  version: 150_004,
  synchronousCommit: "on",
  hasSynchronousStandby: true,
  fsync: true,
  fullPageWrites: true,
};
const redis: RedisFacts = { version: "7.0.15", isValkey: false, appendOnly: true, evictionPolicy: "noeviction" };

test.each<[Partial<DatabaseFacts>, boolean, readonly string[]]>([
  [{}, true, []],
  [{ version: 140_011 }, true, ["postgres_version"]],
  [{ synchronousCommit: "off" }, true, ["postgres_synchronous_commit"]],
  [{ synchronousCommit: "local" }, false, ["postgres_synchronous_commit"]],
  [{ fullPageWrites: false }, false, ["postgres_fsync"]],
  [{ hasSynchronousStandby: false }, true, ["postgres_standby"]],
  [{ hasSynchronousStandby: false }, false, []],
])("PostgreSQL with %p, production %p: %p", (facts, production, codes) => {
  expect(databaseWeaknesses({ ...database, ...facts }, production).map(({ code }) => code)).toEqual([...codes]);
});

test.each<[Partial<RedisFacts>, readonly string[]]>([
  [{}, []],
  [{ version: "6.2.14" }, ["redis_version"]],
  [{ version: "7.1.0", isValkey: true }, ["redis_version"]],
  [{ version: "8.0.1", isValkey: true }, []],
  [{ appendOnly: false }, ["redis_appendonly"]],
  [{ evictionPolicy: "allkeys-lru" }, ["redis_maxmemory_policy"]],
  [{ version: null, appendOnly: null, evictionPolicy: null }, []],
])("Redis with %p: %p", (facts, codes) => {
  const found = { ...redis, ...facts };
  expect(redisWeaknesses(found).map(({ code }) => code)).toEqual([...codes]);
  expect(redisRefusal(found) !== null).toBe(codes.includes("redis_maxmemory_policy"));
});
