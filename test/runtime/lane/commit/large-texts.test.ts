/** Large texts that states and log entries share, as PostgreSQL stores them. */
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { defineActor } from "../../../../actors/kernel/actor.ts";
import { defineLog, emit } from "../../../../actors/kernel/effect.ts";
import { message } from "../../../../actors/kernel/message.ts";
import { Harness } from "../../harness.ts";

const harness = new Harness();

const board = Type.Unknown();
const events = defineLog("events", board);
const keeper = defineActor({
  kind: "keeper",
  state: Type.Object({ text: Type.String(), board }),
  messages: { keep: message({ body: Type.Object({ text: Type.String() }), reply: Type.Null() }) },
  receive: {
    keep: (_, { text }) => {
      const shared = { input: { text }, again: [text], more: { deeper: { text } } };
      return { state: { text, board: shared }, effects: [emit(events, { shared, text: "small" })], reply: null };
    },
  },
});

test("a large text is stored wherever it stands in states and entries", async () => {
  const { runtime } = await harness.node({ actors: [keeper] });
  const nasty = `"\\\u001f1\u001f\n\r\t\u0001é😀 {"a":[1]} $1 `;
  const texts = ["x".repeat(200_000), nasty.repeat(20_000), "\u001f2\u001f", ""];
  await Promise.all(
    texts.map((text, index) => runtime.ask({ kind: "keeper", tenant: "acme", key: `k${index}` }, "keep", { text })),
  );
  for (const [index, text] of texts.entries()) {
    const shared = { input: { text }, again: [text], more: { deeper: { text } } };
    const [row] = await harness.stores.sql<{ state: string; entry: string }[]>`
      select a.state, l.entry from runtime_actors a join runtime_logs l on l.kind = a.kind and l.key = a.key
      where a.kind = 'keeper' and a.key = ${`k${index}`}`;
    expect(row?.state === JSON.stringify({ text, board: shared })).toBe(true);
    expect(row?.entry === JSON.stringify({ shared, text: "small" })).toBe(true);
  }
});
