/** What a former owner left in the outbox is read in pages that are bounded in rows and in bytes. */
import { expect, test } from "bun:test";
import { loadOutbox } from "../../src/runtime/effects/outbox.ts";
import { Harness } from "./harness.ts";

const harness = new Harness();

test("an outbox left by a former owner is read in pages of bounded size, in order", async () => {
  const { sql } = await harness.node();
  const put = (partition: number, first: number, last: number, size: number) => sql`
    insert into runtime_outbox (partition, seq, effect)
    select ${partition}, n, json_build_array('tell', 'counter', 'a', 'acme', 'add', repeat('x', ${size}))::text
    from generate_series(${first}::int, ${last}::int) n`;
  // Of partitions that no node has: they stay.
  await put(1000, 1, 1500, 10);
  await put(1001, 1, 20, 1_000_000);
  const pages: { rows: number; bytes: number }[] = [];
  const order: string[] = [];
  const after: number[] = [];
  for await (const page of loadOutbox(sql, 8, [1000, 1001])) {
    pages.push({ rows: page.length, bytes: page.reduce((sum, { effect }) => sum + effect.length, 0) });
    for (const row of page) order.push(`${row.partition} ${row.seq}`);
    for (const row of page) after.push(row.seq - row.after);
  }
  expect(pages.length).toBeGreaterThan(3);
  for (const { rows, bytes } of pages) expect(rows <= 1000 && bytes < 10_000_000).toBe(true);
  expect(order).toEqual([
    ...Array.from({ length: 1500 }, (_, index) => `1000 ${index + 1}`),
    ...Array.from({ length: 20 }, (_, index) => `1001 ${index + 1}`),
  ]);
  expect(new Set(after)).toEqual(new Set([1]));
});
