/** The mended driver: what happens to queries and to the process when a connection closes under them. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { isDatabaseUnavailable, openPostgres, type Sql } from "../../src/store/postgres.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

let stores: TestStores;
let sql: Sql;

beforeEach(async () => {
  stores = await freshStores();
  sql = openPostgres({ url: stores.databaseUrl, schema: stores.schema, poolSize: 2 });
});

afterEach(async () => {
  await sql.end({ timeout: 2 });
  await stores.dispose();
});

async function allPlacesWork(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    const rows = await Promise.all(
      [1, 2, 3, 4].map((number) => sql<{ number: number }[]>`select ${number}::int as number`),
    );
    expect(rows.map(([row]) => row?.number)).toEqual([1, 2, 3, 4]);
  }
}

/**
 * How a query ended. A cut connection has several codes (the close is seen first, or the reset that answers a
 * write, or the server's own farewell): what counts is that all of them say "the database is away".
 */
const endOf = (query: PromiseLike<unknown>) =>
  Promise.resolve(query).then(
    () => "fine",
    (error: unknown) => (isDatabaseUnavailable(error) ? "cut" : String(error)),
  );

test("a transaction whose connection is cut fails, and the pool goes on", async () => {
  for (let round = 0; round < 5; round++) {
    const cut = sql.begin(async (tx) => {
      await tx`select 1`;
      await tx`select pg_terminate_backend(pg_backend_pid())`;
    });
    expect(await endOf(cut)).toBe("cut");
    await allPlacesWork();
  }
});

test("a query on a reserved connection that is gone fails and does not end the process", async () => {
  const reserved = await sql.reserve();
  const [{ pid } = { pid: 0 }] = await reserved<{ pid: number }[]>`select pg_backend_pid() as pid`;
  await stores.sql`select pg_terminate_backend(${pid})`;
  await until(async () => (await stores.sql`select 1 from pg_stat_activity where pid = ${pid}`).length === 0);
  expect(await endOf(reserved`select 1`)).toBe("cut");
  await allPlacesWork();
});

test("a transaction that goes on after its connection was cut reaches no other connection", async () => {
  await sql`create table written (what text)`;
  let goOn: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let late: string | undefined = "not tried";
  const cut = sql.begin(async (tx) => {
    await endOf(tx`select pg_terminate_backend(pg_backend_pid())`);
    await held;
    late = await endOf(tx`insert into written values ('by a dead transaction')`);
  });
  expect(await endOf(cut)).toBe("cut");
  await allPlacesWork();
  goOn();
  await until(() => late !== "not tried");
  expect(late).toBe("cut");
  expect([...(await sql`select what from written`)]).toEqual([]);
});
