/** What waits in PostgreSQL is read in pages that are bounded in rows and in bytes (src/runtime/README.md). */
import { expect, test } from "bun:test";
import { rowsOf, takeOver } from "../../src/runtime/activities/takeover.ts";
import { DeadLetters } from "../../src/runtime/dead-letters/dead-letter.ts";
import { loadOutbox } from "../../src/runtime/effects/outbox.ts";
import { Refill } from "../../src/runtime/lane/exchange/refill.ts";
import type { Delivery } from "../../src/runtime/mailbox/mailbox.ts";
import { readLog, readLogPages } from "../../src/runtime/reads/log-pages.ts";
import { readTimers } from "../../src/runtime/timers/store.ts";
import { ParkedMessages } from "../../src/runtime/versions/parked.ts";
import { Harness } from "./harness.ts";

const harness = new Harness();

/** 20 of these are more than two pages. */
const [large, largeCount] = [1_000_000, 20];
const mostOfPage = 10_500_000;
const numbersTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const sizeOf = (rows: readonly object[]) => rows.reduce((sum, row) => sum + JSON.stringify(row).length, 0);

test("an outbox left by a former owner is read in pages of bounded size, in order", async () => {
  const { sql } = await harness.node();
  const put = (partition: number, first: number, last: number, size: number) => sql`
    insert into runtime_outbox (partition, seq, effect)
    select ${partition}, n, json_build_array('tell', 'counter', 'a', 'acme', 'add', repeat('x', ${size}))::text
    from generate_series(${first}::int, ${last}::int) n`;
  // Of partitions that no node has: they stay.
  await put(1000, 1, 1500, 10);
  await put(1001, 1, largeCount, large);
  const pages: { rows: number; bytes: number }[] = [];
  const order: string[] = [];
  const after: number[] = [];
  for await (const page of loadOutbox(sql, 8, [1000, 1001])) {
    pages.push({ rows: page.length, bytes: page.reduce((sum, { effect }) => sum + effect.length, 0) });
    for (const row of page) order.push(`${row.partition} ${row.seq}`);
    for (const row of page) after.push(row.seq - row.after);
  }
  expect(pages.length).toBeGreaterThan(3);
  for (const { rows, bytes } of pages) expect(rows <= 1000 && bytes < mostOfPage).toBe(true);
  expect(order).toEqual([...numbersTo(1500).map((n) => `1000 ${n}`), ...numbersTo(largeCount).map((n) => `1001 ${n}`)]);
  expect(new Set(after)).toEqual(new Set([1]));
});

test("effects and inbox messages that wait are read again until all are taken", async () => {
  const { sql } = await harness.node();
  await sql`
    insert into runtime_outbox (partition, seq, effect, target)
    select 1000, n, json_build_array('tell', 'counter', 'a', 'acme', 'add', repeat('x', ${large}))::text, 1001
    from generate_series(1, ${largeCount}::int) n`;
  await sql`
    insert into runtime_inbox (partition, kind, key, tenant, type, body)
    select 1001, 'counter', 'a', 'acme', 'add', to_json(repeat('x', ${large}))::text from generate_series(1, ${largeCount}::int) n`;
  const held = new Map([[1001, null]]);
  const refill = new Refill(sql, () => {});
  refill.want([1001]);
  const taken: Delivery[] = [];
  while (refill.isDue) {
    const page = await refill.read(held);
    expect(page.length > 0 && sizeOf(page) < mostOfPage).toBe(true);
    taken.push(...page);
    // As the commit that takes them does.
    for (const { envelope } of page) {
      if (envelope?.inbox !== undefined) await sql`delete from runtime_inbox where id = ${envelope.inbox}`;
      else await sql`delete from runtime_outbox where partition = 1000 and seq = ${envelope?.sequence ?? 0}`;
    }
    refill.settle(page);
  }
  const sequences = taken.flatMap(({ envelope }) => (envelope?.effect === undefined ? [] : [envelope.sequence]));
  expect(sequences).toEqual(numbersTo(largeCount));
  expect(taken).toHaveLength(2 * largeCount);
});

test("messages that waited for a later version are tried in pages of bounded size", async () => {
  const { sql } = await harness.node();
  await sql`
    insert into runtime_parked (partition, kind, key, tenant, content)
    select 1000, 'counter', 'a', 'acme', json_build_array('s', n, 'counter', 'a', 'acme', 'add', 0, 0, 0, repeat('x', ${large}))::text
    from generate_series(1, ${largeCount}::int) n`;
  const parked = new ParkedMessages(sql);
  await parked.begin([{ partition: 1000, epoch: 1 }]);
  let tried = 0;
  while (parked.isDue) {
    const page = await parked.next();
    expect(sizeOf(page)).toBeLessThan(2 * mostOfPage);
    tried += page.length;
  }
  expect(tried).toBe(largeCount);
});

test("timers, work, logs and dead letters are read in pages of bounded size", async () => {
  const { sql } = await harness.node();
  await sql`
    insert into runtime_timers (partition, due, fence, kind, key, tenant, timer, type, body)
    select 1000 + n % 2, n, n, 'counter', 'a' || n, 'acme', 't', 'add', to_json(repeat('x', ${large}))::text
    from generate_series(1, ${largeCount}::int) n`;
  const { rows: timers, partial } = await readTimers(sql, [1000, 1001, 1002], 1000, 512);
  expect(timers.length > 2 && sizeOf(timers) < mostOfPage).toBe(true);
  expect([...partial].sort()).toEqual([1000, 1001]);
  expect((await readTimers(sql, [1002], 1000, 512)).partial.size).toBe(0);
  expect((await readTimers(sql, [1000], 10, 512)).rows.map(({ due }) => due)).toEqual([2, 4, 6, 8]);

  await sql`
    insert into runtime_activities (id, kind, key, tenant, name, input, reply_type, host, host_bound)
    select 'w' || n, 'counter', 'a', 'acme', 'x', to_json(repeat('x', ${large}))::text, 'done', 'h', false
    from generate_series(1, ${largeCount}::int) n`;
  const bytes = 8_000_000;
  const options = {
    node: "me",
    host: "h",
    live: ["me"],
    names: ["x"],
    formats: [1],
    orphanAfterMs: 1000,
    room: 200,
    bytes,
  };
  const adopted = [await takeOver(sql, options), await takeOver(sql, options), await takeOver(sql, options)];
  for (const rows of adopted) expect(sizeOf(rows)).toBeLessThan(mostOfPage);
  const ids = adopted.flat().map(({ id }) => id);
  expect(new Set(ids).size).toBe(largeCount);
  expect(sizeOf(await rowsOf(sql, options, ids))).toBeLessThan(mostOfPage);

  await sql`
    insert into runtime_logs (kind, key, log, seq, at, entry)
    select 'counter', 'a', 'events', n, n, to_json(repeat('x', ${large}))::text from generate_series(1, ${largeCount}::int) n`;
  const read: number[] = [];
  for await (const page of readLogPages(sql, { kind: "counter", key: "a" }, "events", {
    after: 0,
    rows: 50,
    owner: "",
  })) {
    expect(sizeOf(page)).toBeLessThan(mostOfPage);
    read.push(...page.map(({ seq }) => seq));
  }
  expect(read).toEqual(numbersTo(largeCount));
  expect(await readLog(sql, { kind: "counter", key: "a" }, "events", { after: 1, rows: 15, owner: "" })).toHaveLength(
    15,
  );

  await sql`
    insert into runtime_dead_letters (id, partition, kind, key, tenant, message_id, type, body, error, attempts)
    select gen_random_uuid(), 0, 'counter', 'a', 'acme', 'm', 'add', to_json(repeat('x', ${large}))::text, 'e', 3
    from generate_series(1, ${largeCount}::int) n`;
  const letters = await new DeadLetters(sql).list({});
  expect(letters.length > 1 && sizeOf(letters) < mostOfPage).toBe(true);
});
