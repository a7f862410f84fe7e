import { expect, test } from "bun:test";
import { type Commit, partsOf } from "../../../../src/runtime/lane/commit/commit.ts";
import { openPostgres } from "../../../../src/store/postgres/pool.ts";
import { freshStores } from "../../../harness/stores.ts";

const actor = { kind: "counter", key: "a", tenant: "acme" };
const commit: Commit = {
  partitions: [{ partition: 1, epoch: 1, mailboxOffset: "1-0", timeline: "1", outboxSequence: 1, published: 1 }],
  actors: [{ ...actor, partition: 1, version: 1, logs: "{}", timers: null, format: 1, listed: null, state: "{}" }],
  ended: [{ kind: "counter", key: "b" }],
  logs: [{ kind: "counter", key: "a", log: "events", seq: 1, at: 1, entry: "{}" }],
  outbox: [{ partition: 1, seq: 2, effect: "[]", target: 2, after: 0 }],
  received: [{ partition: 1, source: "p2", seq: 1 }],
  taken: [{ partition: 2, seq: 1 }],
  takenInbox: ["1"],
  activities: [
    { ...actor, id: "new", name: "work", input: "{}", format: 1, replyType: "done", hostBound: false, isKnown: true },
  ],
  settled: ["settled"],
  abandoned: ["given up"],
  timers: [{ ...actor, partition: 1, due: 1, fence: 1, timer: "t", type: "wake", body: "{}" }],
  endedTimers: [{ partition: 1, due: 1, fence: 2, key: "a" }],
  deadLetters: [],
  parked: [],
  unparked: { places: [], activities: [] },
  projections: [],
};

test("each part of a commit is planned once for a connection, not anew for each batch", async () => {
  const stores = await freshStores();
  const sql = openPostgres({ url: stores.databaseUrl, schema: stores.schema, poolSize: 1 });
  try {
    const { ahead, progress, others } = partsOf(commit, { node: "n", host: "h" });
    const texts = [...ahead, progress, ...others].map(({ text }) => text);
    await sql.begin(async (tx) => {
      for (const { text, parameters } of [...ahead, progress, ...others]) {
        for (let time = 0; time < 8; time++) {
          await tx
            .savepoint(async (inner) => {
              await inner.unsafe(text, parameters as never[], { prepare: true });
              throw new Error("undone");
            })
            .catch(() => {});
        }
      }
    });
    const plans = await sql<{ statement: string; generic_plans: number }[]>`
      select statement, generic_plans::int from pg_prepared_statements where statement = any(${texts})`;
    const generic = new Map(plans.map((row) => [row.statement, row.generic_plans]));
    expect(texts.filter((text) => (generic.get(text) ?? 0) === 0)).toEqual([]);
  } finally {
    await sql.end();
    await stores.dispose();
  }
});
