/** What the runtime keeps for a while ends: dead letters, and work that nothing waits for or no node runs. */
import { expect, test } from "bun:test";
import type { Address } from "../../src/runtime/index.ts";
import { eraseOldWork } from "../../src/runtime/retention.ts";
import { at, Harness } from "./harness.ts";

const harness = new Harness();
const days = { deadLetters: 30, activities: 7 };

test("old dead letters and orphaned work end, younger ones stay", async () => {
  const { runtime, sql } = await harness.node();
  await runtime.ask(at("alive"), "add", {});
  for (const age of [29, 31]) {
    await sql`
      insert into runtime_dead_letters (id, partition, kind, key, tenant, message_id, type, body, error, attempts, created_at)
      select gen_random_uuid(), 0, 'counter', 'k' || n, 'acme', 'm', 't', '{}', 'e', 1, now() - ${`${age} days`}::interval
      from generate_series(1, 1500) n`;
  }
  const work = (id: string, key: string, age: number, node: string | null) => sql`
    insert into runtime_activities (id, kind, key, tenant, name, input, reply_type, node, host, host_bound, created_at)
    values (${id}, 'counter', ${key}, 'acme', 'unheard of', '{}', 'worked', ${node}, 'host-9', false, now() - ${`${age} days`}::interval)`;
  await work("without a node, old", "gone", 8, "gone");
  await work("without a node, young", "gone", 6, "gone");
  await work("unowned, old", "alive", 8, "gone");
  await work("unowned, young", "alive", 6, null);
  await work("at work, old", "alive", 8, runtime.nodeId);
  const told: [Address, string, unknown][] = [];
  const sendOutcome = async (to: Address, type: string, outcome: unknown) => void told.push([to, type, outcome]);
  expect(await eraseOldWork({ sql, days, sendOutcome })).toEqual({ deadLetters: 1500, activities: 2 });
  expect(await sql`select from runtime_dead_letters`).toHaveLength(1500);
  expect(told).toEqual([
    [at("alive"), "worked", expect.objectContaining({ id: "unowned, old", ok: false, code: "unowned" })],
  ]);
  const left = await sql<{ id: string }[]>`select id from runtime_activities order by id`;
  expect(left.map(({ id }) => id)).toEqual(["at work, old", "unowned, old", "unowned, young", "without a node, young"]);
});

test("taking over work costs no look at the work of nodes that live", async () => {
  const { sql } = harness.stores;
  await sql`
    insert into runtime_activities (id, kind, key, tenant, name, input, reply_type, node, host, host_bound)
    select 'w' || n, 'counter', 'k', 'acme', 'a', '{}', 'worked', 'living', 'h', false from generate_series(1, 20000) n`;
  await sql`analyze runtime_activities`;
  const { takeOver } = await import("../../src/runtime/activities/takeover.ts");
  const options = {
    node: "me",
    host: "h",
    live: ["living"],
    names: ["a"],
    formats: [1],
    orphanAfterMs: 1000,
    bytes: 1_000_000,
    room: 10,
  };
  const scans = async () => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<[{ read: string }]>`
      select seq_tup_read::text as read from pg_stat_user_tables where relname = 'runtime_activities' and schemaname = current_schema()`;
    return Number(row.read);
  };
  await sql.reserve().then(async (one) => {
    const before = await scans();
    expect(await takeOver(one as never, options)).toHaveLength(0);
    await one`select pg_stat_force_next_flush()`;
    expect((await scans()) - before).toBeLessThan(20_000);
    one.release();
  });
});
