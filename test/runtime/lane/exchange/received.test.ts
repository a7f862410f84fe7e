/** What a partition remembers of those whose messages it took, and for how long. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { settlePartitions } from "../../../../src/runtime/index.ts";
import { Arrivals } from "../../../../src/runtime/lane/exchange/arrivals.ts";
import { forgetNodes } from "../../../../src/runtime/lane/exchange/received.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";

let stores: TestStores;
beforeEach(async () => {
  stores = await freshStores();
});
afterEach(() => stores.dispose());

test("what was taken behind the position of a mailbox is remembered however old it is", async () => {
  const { sql } = stores;
  await settlePartitions(sql, 2);
  /** Up to where the mailboxes are taken, minutes ago. */
  const positions = [1, 20];
  for (const [partition, minutes] of positions.entries())
    await sql`
      update runtime_partitions set mailbox_offset = floor(extract(epoch from now() - ${`${minutes} minutes`}::interval) * 1000)::text || '-0'
      where partition = ${partition}`;
  for (const partition of positions.keys())
    for (const [source, minutes] of [
      ["na.1", 15],
      ["na.2", 5],
      ["nb.1", 25],
      ["nc", 90],
      ["p1", 90],
    ] as const)
      await sql`
        insert into runtime_received (partition, source, seq, at)
        values (${partition}, ${source}, 1, now() - ${`${minutes} minutes`}::interval)`;
  const received = new Map([["na.1", 1]]);
  const held = { received, arrivals: new Arrivals() };
  // As its next owner holds it, which has read nothing of the mailbox yet.
  await forgetNodes(
    sql,
    new Map([
      [0, { partition: 0, ...held }],
      [1, { partition: 1, ...held, received: new Map(received) }],
    ]),
  );
  const rows = await sql<
    { partition: number; source: string }[]
  >`select partition, source from runtime_received order by 1, 2`;
  expect(rows.map(({ partition, source }) => `${partition} ${source}`)).toEqual([
    "0 na.2",
    "0 p1",
    "1 na.1",
    "1 na.2",
    "1 p1",
  ]);
  expect([...received.keys()]).toEqual([]);
});
