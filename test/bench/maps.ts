/** Maps: how fast a run goes through a long list, and whether the node's memory stays as it is. */
import { systemTenant } from "../../actors/identity/identity.ts";
import { openPostgres } from "../../src/store/postgres/pool.ts";
import { liftRates } from "../harness/rates.ts";
import { until } from "../harness/until.ts";
import { bareTransitions } from "./floors/bare-workflows.ts";
import { residentMiB, startBenchService } from "./service.ts";
import { type BenchStores, durability } from "./stores.ts";
import type { Row } from "./table.ts";

const items = 10_000;
/** Maps after the first ones, one after the other. */
const rounds = 8;
/** Bytes of an item's row and its share of the states around it. */
const rowBytes = 600;

const manifest = {
  apiVersion: "svc.dev/v1",
  kind: "Workflow",
  metadata: { name: "goes-through" },
  spec: {
    initial_state: "EACH",
    states: {
      EACH: {
        kind: "Map",
        items: "{{input.list}}",
        state: { kind: "System", command: "noop" },
        transitions: [],
      },
    },
  },
};

export async function benchMaps(stores: BenchStores): Promise<Row[]> {
  const name = "maps";
  const service = await startBenchService(stores, name);
  const sql = openPostgres({ url: stores.databaseUrl, schema: name, poolSize: 2 });
  const list = Array.from({ length: items }, (_, at) => at);
  const run = async (): Promise<number> => {
    const began = performance.now();
    const answer = await service.post("/v1/workflows/goes-through/run", { input: { list } });
    if (!answer.ok) throw new Error(`start: ${answer.status} ${await answer.text()}`);
    const { execution_id } = (await answer.json()) as { execution_id: string };
    const isOver = async () =>
      (await sql`select from workflow_runs where run_id = ${execution_id} and ended_at is not null`).length === 1;
    await until(isOver, { what: "the Map to end", timeoutMs: 120_000 });
    const ms = performance.now() - began;
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from workflow_items where run_id = ${execution_id} and status = 'completed'`;
    if (row?.count !== items) throw new Error(`${row?.count} of ${items} items completed`);
    return ms;
  };
  try {
    await liftRates(sql, systemTenant);
    const answer = await service.post("/v1/workflows?force=true", manifest);
    if (!answer.ok) throw new Error(`register: ${answer.status} ${await answer.text()}`);
    for (let warm = 0; warm < 3; warm++) await run();
    const before = await residentMiB(service.pid);
    let totalMs = 0;
    for (let round = 0; round < rounds; round++) totalMs += await run();
    const after = await residentMiB(service.pid);
    return [
      {
        name: "items of a Map, 10,000 of noop",
        unit: "/s",
        value: (items * rounds * 1000) / totalMs,
        floor: await bareTransitions(stores.sql, items, rowBytes),
        floorIs: "rows of the same size in batches of 250, one INSERT each",
        goal: ">= 5,000",
        note: `from the start to the end of the run, concurrency 10, records of 100 items, ${durability}`,
      },
      {
        name: `node memory after ${rounds} such Maps more`,
        unit: "MiB",
        value: after,
        floor: before,
        floorIs: "the same after three",
        goal: "flat",
        note: `${(items * rounds).toLocaleString("en-US")} items`,
      },
    ];
  } finally {
    await sql.end({ timeout: 2 });
    await service.stop();
  }
}
