/** Migrations beside programs that run: one at a time, without long locks, and what an older program makes of them. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { scratch } from "../harness/scratch.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

let stores: TestStores;
let sql: Sql;
let schema = "";
let folder = "";
let count = 0;

beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores.dispose());
beforeEach(async () => {
  count++;
  schema = `${stores.schema}_m${count}`;
  folder = join(scratch("migrations"), String(count));
  mkdirSync(folder, { recursive: true });
  sql = openPostgres({ url: stores.databaseUrl, schema, poolSize: 6 });
  file("0001_first.sql", "create table things (id integer);");
});

function file(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

async function ended(): Promise<void> {
  await sql`drop schema if exists ${sql(schema)} cascade`;
  await sql.end({ timeout: 2 });
}

test("programs that migrate at once do it one after the other, each migration once", async () => {
  file("0002_slow.sql", "select pg_sleep(0.3); insert into things values (1);");
  file("0003_more.sql", "insert into things values (2);");
  const applied = await Promise.all([1, 2, 3].map(() => migrate(sql, schema, { folder })));
  expect(applied.flat().sort()).toEqual(["0001_first.sql", "0002_slow.sql", "0003_more.sql"]);
  expect((await sql`select id from things order by id`).map(({ id }) => id)).toEqual([1, 2]);
  expect(await migrate(sql, schema, { folder })).toEqual([]);
  await ended();
});

test("a migration gives way while a table is in use, and is tried again", async () => {
  await migrate(sql, schema, { folder });
  file("0002_column.sql", "alter table things add column name text;");
  const release = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const reader = sql.begin(async (tx) => {
    await tx`select * from things`;
    held.resolve();
    await release.promise;
  });
  await held.promise;
  const waits: string[] = [];
  const migrating = migrate(sql, schema, { folder, lockTimeoutMs: 50, progress: (line) => waits.push(line) });
  await until(() => waits.length > 0, { what: "the migration to give way" });
  // Between two tries other programs write: a lock that is waited for holds up all that come after it.
  await sql`insert into things values (3)`;
  release.resolve();
  await reader;
  expect(await migrating).toEqual(["0002_column.sql"]);
  expect(waits).toEqual(["The migration 0002_column.sql waits: others use what it changes"]);
  await ended();
});

test("an older program works beside what was added, not beside what was taken away", async () => {
  const older = folder;
  await migrate(sql, schema, { folder: older });
  folder = `${older}-later`;
  mkdirSync(folder);
  file("0001_first.sql", "create table things (id integer);");
  file("0002_add.sql", "create table runtime_nodes (id text, migration text, heartbeat_at timestamptz);");
  await migrate(sql, schema, { folder });
  expect(await migrate(sql, schema, { folder: older })).toEqual([]);

  file("0003_drop.sql", "-- needs: 0002_add.sql\n-- No version reads it any more.\nalter table things drop column id;");
  await sql`insert into runtime_nodes values ('old-node', null, now()), ('gone', null, now() - interval '1 hour'),
    ('new-node', '0002_add.sql', now())`;
  await expect(migrate(sql, schema, { folder })).rejects.toThrow(/stop old-node first/);
  await sql`delete from runtime_nodes where id = 'old-node'`;
  expect(await migrate(sql, schema, { folder })).toEqual(["0003_drop.sql"]);
  await expect(migrate(sql, schema, { folder: older })).rejects.toThrow(
    /newer than this version.*Start a later version/,
  );
  await ended();
});

test("a migration that fails leaves nothing of itself; earlier ones stay", async () => {
  file("0002_wrong.sql", "insert into things values (1); select 1 / 0;");
  await expect(migrate(sql, schema, { folder })).rejects.toThrow(/division by zero/);
  expect((await sql`select name from migrations`).map(({ name }) => name)).toEqual(["0001_first.sql"]);
  expect([...(await sql`select * from things`)]).toEqual([]);
  await ended();
});

const indexed =
  "-- outside of a transaction\ndrop index concurrently if exists things_id;\ncreate index concurrently things_id on things (id);\n";

test("an index is made without keeping writers out", async () => {
  await migrate(sql, schema, { folder });
  file("0002_index.sql", indexed);
  const applied = await sql.begin(async (tx) => {
    await tx`insert into things values (1)`;
    const migrating = migrate(sql, schema, { folder });
    await until(
      async () =>
        (
          await sql`select 1 from pg_stat_activity where query ilike '%create index concurrently things_id%' and wait_event_type = 'Lock'
          and pg_backend_pid() <> pid and datname = current_database()`
        ).length > 0,
      { what: "the index to wait for the transaction" },
    );
    await sql`insert into things values (2)`;
    return { migrating };
  });
  expect(await applied.migrating).toEqual(["0002_index.sql"]);
  await expectIndex();
});

test("in a new schema, and behind a pooler, an index waits for no other transaction", async () => {
  file("0002_index.sql", indexed);
  await stores.sql.begin("isolation level repeatable read", async (tx) => {
    await tx`select 1 as holds_a_snapshot from pg_class limit 1`;
    expect(await migrate(sql, schema, { folder })).toEqual(["0001_first.sql", "0002_index.sql"]);
    await sql`drop index things_id`;
    await sql`delete from migrations where name = '0002_index.sql'`;
    expect(await migrate(sql, schema, { folder, pooled: true })).toEqual(["0002_index.sql"]);
  });
  await expectIndex();
});

async function expectIndex(): Promise<void> {
  const [index] = await sql`select indisvalid from pg_index where indexrelid = 'things_id'::regclass`;
  expect(index).toEqual({ indisvalid: true });
  await ended();
}
