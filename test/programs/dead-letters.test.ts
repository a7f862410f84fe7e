/** The operators' program over real dead letters, beside a running node. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { settlePartitions } from "../../src/runtime/ownership/partitions.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgres } from "../../src/store/postgres/pool.ts";
import { startTestNode, type TestNode } from "../harness/runtime/runtime.ts";
import { freshStores, joinTestStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";
import { operatorProgram } from "./operator-program.ts";

const at = { kind: "counter", key: "a", tenant: "acme" };
let stores: TestStores;
let node: TestNode;
beforeAll(async () => {
  stores = await freshStores();
  node = await startTestNode(stores);
});
afterAll(async () => {
  await node.stop();
  await stores.dispose();
});

const deadLetters = operatorProgram("dead-letters", () => stores);

test("a letter is listed, shown, sent again once, and fails again as a new letter", async () => {
  expect(await deadLetters(["list"])).toEqual({ out: "no dead letters\n", err: "", code: 0 });
  await expect(node.runtime.ask(at, "fail", {})).rejects.toThrow("always throws");
  const { out } = await deadLetters(["list"]);
  expect(out).toMatch(/^[0-9a-f-]{36} {2}\S+ {2}counter a {2}acme {2}fail {2}.*always throws.*\n$/);
  const id = out.slice(0, 36);
  expect(JSON.parse((await deadLetters(["show", id])).out)).toMatchObject({
    id,
    ...at,
    type: "fail",
    replayed_at: null,
  });
  expect(await deadLetters(["replay", id])).toEqual({ out: "sent again to counter a: fail\n", err: "", code: 0 });
  await until(async () => (await node.runtime.deadLetters.list({})).length === 2, { what: "the second letter" });
  expect(await deadLetters(["replay", id])).toMatchObject({
    code: 1,
    err: expect.stringContaining("sent again already"),
  });
  expect((await deadLetters(["list"])).out.trim().split("\n")).toHaveLength(2);
});

test("a letter whose cause is gone takes effect when it is sent again", async () => {
  const id = crypto.randomUUID();
  await stores.sql`
    insert into runtime_dead_letters (id, partition, kind, key, tenant, message_id, type, body, error, attempts)
    values (${id}, 0, 'counter', 'mended', 'acme', 'x.1', 'add', '{"label":"late"}', 'was broken', 3)`;
  expect((await deadLetters(["replay", id])).code).toBe(0);
  const mended = { ...at, key: "mended" };
  await until(async () => ((await node.runtime.read(mended))?.state as { count?: number } | undefined)?.count === 1, {
    what: "its effect",
  });
  // Sending it again is on record, where the tenant sees it.
  const entries =
    await stores.sql`select tenant, action, actor ->> 'name' as name from audit_entries where target_id = ${id}`;
  expect([...entries]).toEqual([{ tenant: "acme", action: "dead_letter.replayed", name: "dead-letters" }]);
});

test("unknown letters and wrong usage are told, and --help says all of it", async () => {
  for (const unknown of [crypto.randomUUID(), "nonsense"]) {
    expect(await deadLetters(["show", unknown])).toMatchObject({
      code: 1,
      err: `There is no dead letter ${unknown}\n`,
    });
  }
  for (const args of [[], ["show"], ["erase", "x"]]) expect((await deadLetters(args)).code).toBe(2);
  const { out, code } = await deadLetters(["--help"]);
  expect(code).toBe(0);
  for (const word of ["list", "show <id>", "replay <id>", "SVC_DATA_DIR"]) expect(out).toContain(word);
});

test("a data directory's embedded stores are joined; a missing schema is reported", async () => {
  const joined = await joinTestStores();
  const schema = `embedded_${stores.schema}`;
  const sql = openPostgres({ url: joined.databaseUrl ?? "", schema, poolSize: 2 });
  const embedded = { DATABASE_URL: "", REDIS_URL: "" };
  const absent = await deadLetters(["list"], { ...embedded, SVC_DATABASE_SCHEMA: "nobody_was_here" });
  expect(absent).toMatchObject({
    code: 1,
    err: expect.stringContaining("No node has set up the schema nobody_was_here"),
  });
  await migrate(sql, schema);
  await settlePartitions(sql, 8);
  expect((await deadLetters(["list"], { ...embedded, SVC_DATABASE_SCHEMA: schema })).code).toBe(0);
  await sql`drop schema ${sql(schema)} cascade`;
  await sql.end();
  await joined.leave();
});
