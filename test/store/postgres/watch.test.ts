/** A PostgreSQL that hangs, lies or moves: what is under way fails in time, and the pool works again by itself. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { isDatabaseUnavailable, openPostgres, type Sql } from "../../../src/store/postgres/pool.ts";
import { type DatabaseWatch, watchDatabase } from "../../../src/store/postgres/watch.ts";
import { StoreProxy } from "../../faults/proxy.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
let closing: (() => unknown)[] = [];

beforeEach(async () => {
  stores = await freshStores();
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
  await stores.dispose();
});

interface Watched {
  readonly sql: Sql;
  readonly watch: DatabaseWatch;
}

/** @param statementMs bound of the client; the server has none of its own */
function watched(url: string, { statementMs = 15_000, serverMs = 0, poolSize = 3 } = {}): Watched {
  const options = { url, schema: stores.schema, statementMs: serverMs };
  const sql = openPostgres({ ...options, poolSize });
  const probe = openPostgres({ ...options, poolSize: 2, connectMs: 2_000 });
  const watch = watchDatabase({
    pool: sql,
    probe,
    url,
    statementMs,
    pooled: false,
    report: () => {},
  });
  closing.push(
    () => probe.end({ timeout: 1 }),
    () => sql.end({ timeout: 1 }),
    () => watch.stop(),
  );
  return { sql, watch };
}

async function proxied(): Promise<StoreProxy> {
  const proxy = await StoreProxy.to(stores.databaseUrl);
  closing.push(() => proxy.close());
  return proxy;
}

/** How a query ended, and after how many seconds, rounded up. */
async function endOf(query: PromiseLike<unknown>): Promise<readonly [string, number]> {
  const began = performance.now();
  const end = await Promise.resolve(query).then(
    () => "fine",
    (error: unknown) => (isDatabaseUnavailable(error) ? "away" : String(error)),
  );
  return [end, Math.ceil((performance.now() - began) / 1000)];
}

const working = (sql: Sql) =>
  until(async () => (await endOf(Promise.all([1, 2, 3, 4].map(() => sql`select 1`))))[0] === "fine");

test("queries fail in time while PostgreSQL answers nothing, and work once it does", async () => {
  const proxy = await proxied();
  const { sql, watch } = watched(proxy.url);
  await working(sql);
  await until(() => proxy.connections > 1, { what: "the watch to be connected" });
  proxy.hold();
  const ends = await Promise.all(Array.from({ length: 20 }, () => endOf(sql`select 1`)));
  for (const [end, seconds] of ends) {
    expect(end).toBe("away");
    expect(seconds).toBeLessThanOrEqual(6);
  }
  expect(watch.reason).toContain("does not answer");
  expect(await endOf(sql`select 1`)).toEqual(["away", 1]);
  proxy.release();
  await working(sql);
  await until(() => watch.reason === null);
});

test("a server that accepts connections and closes them is away, and its queries fail", async () => {
  const proxy = await proxied();
  proxy.refuse();
  const { sql, watch } = watched(proxy.url);
  expect(await endOf(sql`select 1`)).toEqual(["away", 1]);
  await until(() => watch.reason !== null);
  expect(watch.reason).toContain("closes connections");
  proxy.accept();
  await working(sql);
});

test("a half open connection is replaced while the others go on", async () => {
  const proxy = await proxied();
  const { sql, watch } = watched(proxy.url, { poolSize: 1 });
  await working(sql);
  // What is open hangs, what is opened later does not.
  proxy.freeze();
  const [end, seconds] = await endOf(sql`select 1`);
  expect(end).toBe("away");
  expect(seconds).toBeLessThanOrEqual(6);
  await working(sql);
  expect(watch.reason).toBeNull();
});

test("a statement over its bound is ended at the server by the client", async () => {
  const { sql } = watched(stores.databaseUrl, { statementMs: 500 });
  const [end, seconds] = await endOf(sql`select pg_sleep(60)`);
  expect(end).toBe("away");
  expect(seconds).toBeLessThanOrEqual(8);
  const still = await stores.sql`
    select 1 from pg_stat_activity where state = 'active' and query like 'select pg_sleep(60)%'`;
  expect(still.length).toBe(0);
  await working(sql);
});

test("a database that only reads is away, and back once it writes", async () => {
  const name = new URL(stores.databaseUrl).pathname.slice(1);
  const role = `ro_${stores.schema}`;
  const password = "read-only";
  await stores.sql.unsafe(`create role ${role} login password '${password}'`);
  const url = new URL(stores.databaseUrl);
  [url.username, url.password] = [role, password];
  closing.push(() => stores.sql.unsafe(`drop role ${role}`));
  const { sql, watch } = watched(url.href);
  await working(sql);
  await stores.sql.unsafe(`alter role ${role} in database ${name} set default_transaction_read_only = on`);
  // The connections of before, as those to a primary that became a standby, are cut by the server.
  await stores.sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${role}`;
  await until(() => watch.reason === "it is read-only");
  expect((await endOf(sql`select 1`))[0]).toBe("away");
  await stores.sql.unsafe(`alter role ${role} in database ${name} reset default_transaction_read_only`);
  await working(sql);
  await until(() => watch.reason === null);
});

test("connections that lead to a former primary, now read-only, are replaced", async () => {
  const { sql, watch } = watched(stores.databaseUrl);
  await working(sql);
  await stores.sql`create table moved (pid int)`;
  // As when the address was moved: what was open leads to the former primary, what is opened later to the new one.
  const stale = await Promise.all(
    [1, 2, 3].map(async () => {
      const [row] = await sql<{ pid: number }[]>`
        select pg_backend_pid() as pid, set_config('default_transaction_read_only', 'on', false), pg_sleep(0.5)`;
      return row?.pid;
    }),
  );
  expect(new Set(stale).size).toBe(3);
  expect((await endOf(sql`insert into moved values (0)`))[0]).toBe("away");
  const write = async () => (await endOf(sql`insert into moved values (pg_backend_pid())`))[0];
  await until(async () => (await write()) === "fine", { what: "a write over a new connection" });
  for (let n = 0; n < 8; n++) expect(await write()).toBe("fine");
  const pids = await stores.sql<{ pid: number }[]>`select distinct pid from moved`;
  expect(pids.filter(({ pid }) => stale.includes(pid))).toEqual([]);
  expect(watch.reason).toBeNull();
});

test("a database without room on its disk is told of, although it answers", async () => {
  const { sql, watch } = watched(stores.databaseUrl);
  await working(sql);
  expect(watch.full).toBeNull();
  await stores.sql.unsafe(`create function fills() returns int language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`);
  expect((await endOf(sql`select fills()`))[0]).toBe("away");
  expect(watch.full).toBe("its disk is full (53100)");
  expect(watch.reason).toBeNull();
});

test("of several hosts one that accepts writes is used, another when it goes", async () => {
  const [first, second] = await Promise.all([proxied(), proxied()]);
  const url = new URL(stores.databaseUrl);
  const hosts = [first, second].map((proxy) => `127.0.0.1:${new URL(proxy.url).port}`).join(",");
  const { sql } = watched(
    `postgres://${url.username}:${url.password}@${hosts}${url.pathname}?target_session_attrs=read-write`,
  );
  await working(sql);
  first.refuse();
  await working(sql);
  expect(second.connections).toBeGreaterThan(0);
});
