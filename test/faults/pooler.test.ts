/** Nodes behind a PgBouncer in transaction mode: no session of theirs is their own. Skipped where it cannot be had. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { migrate } from "../../src/store/migrate.ts";
import { openDatabase } from "../../src/store/postgres/database.ts";
import { inspectDatabase } from "../../src/store/postgres/facts.ts";
import { isDatabaseUnavailable, openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { renewPooled, settleRole } from "../../src/store/postgres/role.ts";
import { startNodeProcess } from "../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";
import { Cluster } from "./cluster.ts";
import { Load } from "./load.ts";
import { type Pooler, pgBouncer, startPooler } from "./pgbouncer.ts";

setDefaultTimeout(60_000);

const pooledTest = test.skipIf(pgBouncer === null);
if (pgBouncer === null) console.error("pooler.test.ts is skipped: PgBouncer is missing and cannot be installed");

let stores: TestStores;
let pooler: Pooler;
let role: string;
let schema: string;
let closing: (() => unknown)[] = [];

beforeAll(async () => {
  if (pgBouncer === null) return;
  stores = await freshStores();
  role = `r_${stores.schema}`;
  schema = `s_${stores.schema}`;
  await stores.sql.unsafe(`create role ${role} login password 'pooled'`);
  const url = new URL(stores.databaseUrl);
  [url.username, url.password] = [role, "pooled"];
  await stores.sql.unsafe(`grant create on database ${url.pathname.slice(1)} to ${role}`);
  pooler = await startPooler(url.href);
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

afterAll(async () => {
  if (pgBouncer === null) return;
  await pooler.stop();
  await until(async () => (await stores.sql`select 1 from pg_stat_activity where usename = ${role}`).length === 0, {
    what: "the role's connections to end",
  });
  await stores.sql.unsafe(`drop owned by ${role} cascade; drop role ${role}`);
  await stores.dispose();
});

function opened(poolSize: number): Sql {
  const sql = openPostgres({ url: pooler.url, schema, poolSize, pooled: true });
  closing.push(() => sql.end({ timeout: 1 }));
  return sql;
}

pooledTest("two migrations at once run one after the other, and the role leads to the schema", async () => {
  const facts = await inspectDatabase(pooler.url);
  expect(facts.pooled).toBe(true);
  const { href } = new URL(stores.databaseUrl);
  expect((await inspectDatabase(href)).pooled).toBe(false);
  const [first, second] = [opened(2), opened(2)];
  const applied = await Promise.all([
    migrate(first, schema, { pooled: true }),
    migrate(second, schema, { pooled: true }),
  ]);
  const names = applied.flat();
  expect(names.length).toBeGreaterThan(0);
  expect(new Set(names).size).toBe(names.length);
  const settings = { schema, statementMs: 2_000, pooled: true };
  expect(await Promise.all([settleRole(first, settings), settleRole(second, settings)])).toEqual([[], []]);
  await renewPooled(first, schema, 8);
  const [row] = await second`select current_schema() as schema, current_setting('statement_timeout') as bound`;
  expect(row).toEqual({ schema, bound: "2s" });
});

pooledTest("queries asked for at once over few connections are all answered", async () => {
  const pools = Array.from({ length: 4 }, () => opened(2));
  for (let round = 0; round < 40; round++) {
    const answers = await Promise.all(
      pools.flatMap((sql, pool) =>
        Array.from({ length: 8 }, async (_, n) => {
          await sql`select 1`;
          const [row] = await sql`select ${pool}::int * 100 + ${n}::int as sum`;
          return row?.sum === pool * 100 + n;
        }),
      ),
    );
    expect(answers.every(Boolean)).toBe(true);
  }
});

pooledTest("a statement that hangs ends at the role's bound, and by the client's cancel without one", async () => {
  const facts = await inspectDatabase(pooler.url);
  const sql = opened(1);
  const endOf = (query: PromiseLike<unknown>) =>
    Promise.resolve(query).then(
      () => "fine",
      (error: unknown) => (isDatabaseUnavailable(error) ? "away" : String(error)),
    );
  expect(await endOf(sql`select pg_sleep(60)`)).toBe("away");
  const database = openDatabase({
    url: pooler.url,
    facts,
    schema,
    poolSize: 2,
    connectMs: 5_000,
    statementMs: 1_000,
    prepared: "auto",
    report: () => {},
  });
  closing.push(() => database.close());
  const hanging = endOf(
    database.sql.begin(async (tx) => {
      await tx`set local statement_timeout = 0`;
      await tx`select pg_sleep(59)`;
    }),
  );
  expect(await hanging).toBe("away");
  await until(
    async () =>
      (await stores.sql`select 1 from pg_stat_activity where state = 'active' and query = 'select pg_sleep(59)'`)
        .length === 0,
    { what: "the statement to end at the server" },
  );
  expect(await endOf(database.sql`select 1`)).toBe("fine");
});

pooledTest("nodes take messages, are killed and taken over as on connections of their own", async () => {
  const address = { databaseUrl: pooler.url, schema, redisUrl: stores.redisUrl, prefix: stores.prefix, pooled: true };
  const cluster = new Cluster(address);
  closing.push(() => cluster.killAll());
  const nodes = await Promise.all([cluster.start(), cluster.start()]);
  const load = new Load(cluster, opened(2));
  await load.more(100);
  await cluster.kill(nodes[0]);
  await load.more(100);
  await load.settle();
});

pooledTest("a whole node starts behind it and serves", async () => {
  const node = await startNodeProcess({ ...stores, databaseUrl: pooler.url, schema });
  closing.push(() => node.kill());
  const { status } = await fetch(`${node.url}/health/ready`);
  expect(status).toBe(200);
  expect((await node.call("GET", "/v1/executions")).status).toBe(200);
});
