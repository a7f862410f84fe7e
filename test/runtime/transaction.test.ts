/** Messages that leave with somebody else's transaction. */
import { expect, test } from "bun:test";
import { uuidv7 } from "../../src/runtime/id.ts";
import { MailboxFull } from "../../src/runtime/index.ts";
import { flushPendingTells, storePendingTells } from "../../src/runtime/mailbox/pending-tell.ts";
import { until } from "../harness/until.ts";
import { at, Harness, stateOf } from "./harness.ts";

const harness = new Harness();

test("tellWithin sends when the transaction commits, and only then", async () => {
  const [{ runtime, sql }] = await harness.pair();
  const rolledBack = sql.begin(async (tx) => {
    await runtime.tellWithin(tx, [{ to: at("a"), type: "add", body: { label: "never" } }]);
    throw new Error("changed my mind");
  });
  await expect(rolledBack).rejects.toThrow("changed my mind");
  await sql.begin(async (tx) => {
    await runtime.tellWithin(tx, []);
    await runtime.tellWithin(tx, [
      { to: at("a"), type: "add", body: { label: "first" } },
      { to: at("b"), type: "add", body: { label: "second" } },
    ]);
    expect(await stateOf(runtime, "a")).toBeNull();
  });
  await until(async () => (await stateOf(runtime, "a")) !== null && (await stateOf(runtime, "b")) !== null, {
    what: "both messages",
  });
  expect((await stateOf(runtime, "a"))?.seen).toEqual(["first"]);
  expect((await stateOf(runtime, "b"))?.seen).toEqual(["second"]);
  await until(async () => (await harness.stores.sql`select 1 from runtime_pending_tells`).length === 0, {
    what: "the stored messages to be gone",
  });
});

test("a message whose node died before it sent it leaves with another node", async () => {
  await harness.stores.sql`
    insert into runtime_pending_tells (id, kind, key, tenant, type, body, created_at)
    values (gen_random_uuid(), 'counter', 'a', 'acme', 'add', '{"label":"left"}', now() - interval '5 seconds')`;
  const { runtime } = await harness.node();
  await until(async () => (await stateOf(runtime, "a"))?.seen.length === 1, { what: "the message" });
});

test("a message that is refused now holds up no other, repeats none, and leaves later", async () => {
  const { sql } = harness.stores;
  const heard: string[] = [];
  let full = true;
  const flush = () =>
    flushPendingTells(
      {
        sql,
        send({ key }) {
          if (full && key === "full") return Promise.reject(new MailboxFull(1));
          heard.push(key);
          return Promise.resolve();
        },
      },
      0,
    );
  await sql.begin(async (tx) => {
    await storePendingTells(
      tx,
      ["full", "free", "other"].map((key) => ({ to: at(key), type: "add", body: {} })),
      uuidv7,
    );
  });
  await flush();
  await flush();
  expect(heard.sort()).toEqual(["free", "other"]);
  full = false;
  await flush();
  await flush();
  expect(heard.sort()).toEqual(["free", "full", "other"]);
});
