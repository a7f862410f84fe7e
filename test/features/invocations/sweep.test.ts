/** The end of records of tool calls: by age, and of calls whose node died (docs/reference/tools.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { firstIdAt } from "../../../src/features/invocations/ids.ts";
import { endOfDeadNodes, endOfForgottenNodes, eraseOld } from "../../../src/features/invocations/sweep.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores?.dispose());

const dayMs = 86_400_000;
const insert = (id: string, node: string | null, outcome: string) => stores.sql`
  insert into tool_invocations (id, tenant, entry, tool_name, outcome, started_at, node)
  values (${id}, 'acme', 'seal', 'fs.read', ${outcome}, now(), ${node})`;
const outcomes = async () => {
  const rows = await stores.sql<
    { id: string; outcome: string }[]
  >`select id, outcome from tool_invocations order by id`;
  return rows.map(({ outcome }) => outcome);
};
/** An id of a moment, after the least one. */
const idAt = (ms: number, tail: string) => firstIdAt(ms).slice(0, -tail.length) + tail;

test("calls of a node that died are interrupted; waiting ones and those of others stay", async () => {
  const now = Date.now();
  await insert(idAt(now - 60_000, "1"), "dead", "running");
  await insert(idAt(now - 60_000, "2"), "alive", "running");
  await insert(idAt(now - 60_000, "3"), null, "waiting");
  await insert(idAt(now - 60_000, "4"), "dead", "success");
  const runtime = { silentNodes: async () => [{ id: "dead", lastSeenAt: new Date(now - 90_000) }] };
  const told: unknown[] = [];
  const swept = new Set<string>();
  const report = (_: string, facts: Record<string, unknown>) => void told.push(facts.count);
  for (let round = 0; round < 2; round++) await endOfDeadNodes({ sql: stores.sql, runtime, report }, swept);
  expect(await outcomes()).toEqual(["interrupted", "running", "waiting", "success"]);
  expect(told).toEqual([1]);
});

test("calls of nodes that are not known any more end, recent ones stay", async () => {
  const now = Date.now();
  await stores.sql`delete from tool_invocations`;
  const known = crypto.randomUUID();
  await stores.sql`
    insert into runtime_nodes (id, host, pid_scope, pid, heartbeat_at) values (${known}, 'h', 's', 1, now())`;
  await insert(idAt(now - dayMs, "1"), "forgotten", "running");
  await insert(idAt(now - dayMs, "2"), known, "running");
  await insert(idAt(now - dayMs, "3"), null, "waiting");
  await insert(idAt(now - 60_000, "4"), "forgotten", "running");
  await endOfForgottenNodes({ sql: stores.sql, now: () => now, report: () => {} }, 3 * dayMs);
  expect(await outcomes()).toEqual(["interrupted", "running", "waiting", "running"]);
});

test("records go with their age, results a day after the end", async () => {
  const now = Date.now();
  await stores.sql`delete from tool_invocations`;
  await insert(idAt(now - 91 * dayMs, "1"), null, "success");
  await insert(idAt(now - 89 * dayMs, "2"), null, "failed");
  for (const [id, hours] of [
    ["1", 25],
    ["2", 23],
  ] as const) {
    const ended = new Date(now - hours * 3_600_000);
    await stores.sql`insert into tool_results (id, tenant, ended_at, result)
      values (${idAt(now, id)}, 'acme', ${ended}, '{}')`;
  }
  await eraseOld({ sql: stores.sql, retentionDays: 90, now: () => now, report: () => {} });
  expect(await outcomes()).toEqual(["failed"]);
  const left = await stores.sql`select id from tool_results`;
  expect([...left]).toEqual([{ id: idAt(now, "2") }]);
});
