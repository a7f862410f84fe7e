/** Who may take a partition of which messages were taken before earlier ones of their source. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Leases } from "../../../src/runtime/ownership/lease.ts";
import { settlePartitions } from "../../../src/runtime/ownership/partitions.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
  await settlePartitions(stores.sql, 2);
});
afterAll(() => stores.dispose());

const leasesOf = (node: string) =>
  new Leases({
    sql: stores.sql,
    beside: stores.sql,
    node,
    host: "host",
    partitions: 2,
    generation: 0,
    knowledge: { kinds: {}, activities: {}, effects: [] },
    ttlMs: 10_000,
  });

/** As nodes of the former version do. */
const takenByFormer = async () =>
  (
    await stores.sql<{ partition: number }[]>`
      update runtime_partitions set owner = 'former', epoch = epoch + 1
      where partition = any(array[0, 1]) and (owner is null or not owner = any('{}'::text[])) returning *`
  ).map(({ partition }) => partition);

test("a former node gets no partition that took messages before earlier ones", async () => {
  const { sql } = stores;
  await leasesOf("one").take([0, 1], []);
  await sql`insert into runtime_received_ahead (partition, source, seq, after) values (1, 'n1', 8, 7)`;
  await sql`insert into runtime_timers (partition, kind, key, tenant, timer, due, fence, type, body)
    values (1, 'counter', 'a', 'acme', 't', 0, 1, 'add', '{}')`;
  expect(await takenByFormer()).toEqual([0]);
  // Nothing is handed over with it, and the next owner is a node of this version.
  expect(await sql`select 1 from runtime_timers`).toHaveLength(1);
  const again = await leasesOf("two").take([0, 1], []);
  expect(again.map(({ partition, former }) => [partition, former])).toEqual([
    [0, "former"],
    [1, "one"],
  ]);
  await sql`delete from runtime_received_ahead`;
  expect((await takenByFormer()).sort()).toEqual([0, 1]);
});

test("messages are taken ahead only while every node that lives knows of them", async () => {
  const leases = leasesOf("three");
  await leases.join();
  expect((await leases.look()).takesAhead).toBe(true);
  await stores.sql`insert into runtime_nodes (id, host, pid_scope, pid, heartbeat_at, acknowledges, migration)
    values ('former', 'host', 'elsewhere', 1, now(), true, '0016_rollback.sql')`;
  expect((await leases.look()).takesAhead).toBe(false);
});
