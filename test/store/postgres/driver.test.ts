/** The mended driver: what happens to queries and to the process when a connection closes under them. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type AddressInfo, connect, createServer } from "node:net";
import { isDatabaseUnavailable, openPostgres, type Sql } from "../../../src/store/postgres/pool.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

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

test("a transaction whose connection was cut reaches no other connection", async () => {
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

test.each(["reset", "end"] as const)("a connection that is cut while it opens ends no process (%s)", async (way) => {
  const { hostname, port } = new URL(stores.databaseUrl);
  let cuts = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) socket.on("error", () => {});
    server.pipe(client);
    client.on("close", () => server.destroy());
    client.on("data", (bytes) => {
      // The driver's own question, before any query of ours.
      if (!bytes.includes("typarray") || cuts > 0) server.write(bytes);
      else {
        cuts += 1;
        if (way === "end") client.end();
        else client.resetAndDestroy();
      }
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = new URL(stores.databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((proxy.address() as AddressInfo).port);
  const direct = sql;
  sql = openPostgres({ url: url.href, schema: stores.schema, poolSize: 1 });
  try {
    await endOf(sql`select 1`);
    expect(cuts).toBe(1);
    await allPlacesWork();
    expect([...(await sql`select array['a', 'b'] as list`)]).toEqual([{ list: ["a", "b"] }]);
  } finally {
    await sql.end({ timeout: 1 });
    sql = direct;
    proxy.close();
  }
});

test("of the free connections the one used last is used next", async () => {
  const pid = async () => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid;
  const both = await Promise.all([sql`select pg_sleep(0.01)`.then(pid), sql`select pg_sleep(0.01)`.then(pid)]);
  const pids: (number | undefined)[] = [];
  for (let time = 0; time < 5; time++) pids.push(await pid());
  expect(both).toContain(pids[0]);
  expect(new Set(pids).size).toBe(1);
});

test("messages of any length arrive whole, one after the other and at once", async () => {
  const lengths = [0, 1, 200, 255, 256, 1_023, 1_024, 65_000, 65_536, 1_048_560, 3_000_000, 7, 70_000, 300];
  const ask = async (length: number, place: number) => {
    const text = `${"é".repeat(length % 300)}${"x".repeat(length)}`;
    const [row] = await sql<{ place: number; none: string | null; begins: string; back: string }[]>`
      select ${place}::int as place, ${null}::text as none, ${text.slice(0, 50)}::text as begins, ${text}::text as back`;
    expect(row).toMatchObject({ place, none: null, begins: text.slice(0, 50) });
    expect(row?.back === text).toBe(true);
  };
  await Promise.all(lengths.map(ask));
  for (const [place, length] of lengths.entries()) await ask(length, place);
  const read: number[] = [];
  await sql`select place from generate_series(1, ${500}::int) as place`.cursor(64, (rows) => {
    read.push(...rows.map(({ place }) => Number(place)));
  });
  expect(read).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
});
