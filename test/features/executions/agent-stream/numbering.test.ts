/** Ids of an agent's stream, given by several nodes at once while executions write. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { agentNumbering } from "../../../../src/features/executions/agent-stream/numbering.ts";
import { readingRuntime } from "../../../harness/runtime/fake-runtime.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores.dispose());

const step = fc.record({
  run: fc.integer({ min: 0, max: 5 }),
  events: fc.integer({ min: 0, max: 3 }),
  /** The clock of the node it runs on is wrong by this. */
  skew: fc.integer({ min: -2000, max: 2000 }),
  ends: fc.boolean(),
  erases: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  own: fc.boolean(),
  /** How many nodes number now, before the writer goes on. */
  numbers: fc.integer({ min: 0, max: 3 }),
});

test("every event gets one id, without gap, in its execution's order, from any node", async () => {
  const { sql } = stores;
  const nodes = [1, 2, 3].map(() => agentNumbering(sql, readingRuntime(sql)));
  const [first] = nodes as [(typeof nodes)[number]];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const key = { tenant: "acme", agentId: Bun.randomUUIDv7() };
      await first.begin(key);
      const runs = new Map<number, { id: string; last: number; hasEnded: boolean }>();
      const gone = new Set<string>();
      const written = new Set<string>();
      let own = 0;
      const under: Promise<void>[] = [];
      for (const { run, events, skew, ends, erases, own: hasOwn, numbers } of steps) {
        const one = runs.get(run) ?? { id: Bun.randomUUIDv7(), last: 0, hasEnded: false };
        if (!runs.has(run)) {
          runs.set(run, one);
          await sql`
            insert into executions (execution_id, tenant, agent_id, status, created_at, started_at)
            values (${one.id}, ${key.tenant}, ${key.agentId}, 'running', ${new Date(Date.now() + skew)}, now())`;
        }
        if (!one.hasEnded) {
          one.hasEnded = ends;
          // Like a commit of the runtime: events and what they amount to at once.
          await sql.begin(async (tx) => {
            for (let count = 0; count < events; count++) {
              one.last += 1;
              written.add(`${one.id} ${one.last}`);
              await tx`insert into runtime_logs values ('execution', ${one.id}, 'events', ${one.last}, ${Date.now() + skew}, '{}')`;
            }
            if (ends) await tx`update executions set ended_at = now() where execution_id = ${one.id}`;
          });
        } else if (erases) {
          gone.add(one.id);
          runs.delete(run);
          await sql`delete from executions where execution_id = ${one.id}`;
        }
        if (hasOwn) {
          own += 1;
          await sql`insert into agent_events values (${key.agentId}, ${own}, ${key.tenant}, 'agent_updated', '{}', now())`;
        }
        under.push(...nodes.slice(0, numbers).map((node) => node.number(key)));
      }
      await Promise.all(under);
      await first.number(key);
      const numbered = await first.behind(key, 0, 100_000);
      const last = await first.last(key);
      if (gone.size === 0)
        expect(numbered.map(({ id }) => id)).toEqual(Array.from({ length: last }, (_, at) => at + 1));
      expect(new Set(numbered.map(({ id }) => id)).size).toBe(numbered.length);
      const kept = [...written].filter((name) => !gone.has(name.split(" ")[0] ?? ""));
      const names = numbered.map(({ execution, sequence }) => `${execution} ${sequence}`);
      expect([...names].sort()).toEqual([...kept, ...Array.from({ length: own }, (_, at) => `null ${at + 1}`)].sort());
      for (const list of Map.groupBy(numbered, ({ execution }) => execution).values()) {
        expect(list.map(({ sequence }) => sequence)).toEqual(list.map((_, at) => at + 1));
      }
    }),
    { numRuns: 25 },
  );
}, 60_000);

test("streams of agents that are gone are removed", async () => {
  const key = { tenant: "acme", agentId: Bun.randomUUIDv7() };
  const numbering = agentNumbering(stores.sql, readingRuntime(stores.sql));
  await numbering.begin(key);
  await numbering.sweep();
  const rows = await stores.sql`select 1 from agent_streams where agent_id = ${key.agentId}`;
  expect(rows).toHaveLength(0);
});
