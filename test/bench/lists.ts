/**
 * Every list and its filters, of a tenant with a million of each kind of thing beside one with a thousand. Takes long, so
 * it runs only when asked for by name: `bun run bench lists [--rows=1000000]`.
 */
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { fillLists, settleLists, subjectId, subjects } from "../harness/filled-lists.ts";
import { type BenchService, startBenchService } from "./service.ts";
import type { BenchStores } from "./stores.ts";
import { percentile, type Row } from "./table.ts";

const [small, large] = [1, 2] as const;
const smallRows = 1_000;
const samples = 40;

/** Routes and queries; `@agent` and `@workflow` are ids of the tenant. */
const lists: readonly string[] = [
  "/v1/executions?limit=50",
  "/v1/executions?limit=50&status=failed",
  "/v1/executions?limit=50&status=running",
  "/v1/executions?limit=50&status=timed_out",
  "/v1/executions?limit=50&status=running,failed,timed_out",
  "/v1/executions?limit=50&agent_id=@agent",
  "/v1/executions?limit=50&label=team%3Dred",
  "/v1/executions?limit=50&label=team%3Dnobody",
  "/v1/executions?limit=50&label=team%3Dred&label=env%3Dprod&status=failed",
  "/v1/executions?limit=50&workflow_name=workflow-1",
  "/v1/executions?limit=50&workflow_name=none",
  "/v1/executions?limit=50&workflow_execution_id=none",
  "/v1/executions?limit=50&parent_execution_id=none",
  "/v1/executions?limit=50&started_after=@soon",
  "/v1/executions?limit=50&started_before=@early",
  "/v1/executions",
  "/v1/agents?limit=50",
  "/v1/workflows/executions?limit=50",
  "/v1/workflows/executions?limit=50&status=failed",
  "/v1/workflows/executions?limit=50&status=timed_out",
  "/v1/workflows/executions?limit=50&workflow_id=@workflow",
  "/v1/workflows/executions?limit=50&workflow_name=none",
  "/v1/workflows/executions?limit=50&parent_execution_id=@workflow",
  "/v1/human-approvals?limit=50",
  "/v1/human-approvals?limit=50&workflow_name=none",
  "/v1/human-approvals?limit=50&kind=fleet_run",
  "/v1/human-approvals?limit=50&execution_id=none",
  "/v1/human-approvals/history?limit=50",
  "/v1/human-approvals/history?limit=50&status=timed_out",
  "/v1/human-approvals/history?limit=50&workflow_name=none",
  "/v1/human-approvals/history?limit=50&decided_by=user-3@example.com",
  "/v1/human-approvals/history?limit=50&decided_by=nobody",
  "/v1/stimuli?limit=50",
  "/v1/stimuli?limit=50&source=source-3",
  "/v1/stimuli?limit=50&source=none",
  "/v1/stimuli?limit=50&status=rejected",
  "/v1/stimuli?limit=50&status=start_failed",
  "/v1/stimuli?limit=50&status=received",
  "/v1/stimuli?limit=50&channel=replay",
  "/v1/stimuli?limit=50&dead_letter=true",
];

export async function benchLists(stores: BenchStores): Promise<Row[]> {
  const name = "lists";
  const service = await startBenchService(stores, name);
  const sql = openPostgres({ url: stores.databaseUrl, schema: name, poolSize: 4 });
  try {
    const wanted = process.argv.find((word) => word.startsWith("--rows="));
    const rows = Number(wanted?.slice("--rows=".length) ?? 1_000_000);
    for (const [tenant, count] of [
      [small, smallRows],
      [large, rows],
    ] as const) {
      const began = performance.now();
      await fillLists(sql, tenant, count);
      console.error(`tenant-${tenant}: ${count} rows in ${Math.round((performance.now() - began) / 1000)} s`);
      await deployAgents(service, sql, tenant);
    }
    await settleLists(sql);
    const table: Row[] = [];
    for (const list of lists) table.push(await compare(service, list, rows));
    return table;
  } finally {
    await sql.end();
    await service.stop();
  }
}

/** The agents of the filled executions, as far as their list shows them: with their counts. */
async function deployAgents(service: BenchService, sql: Sql, tenant: number): Promise<void> {
  for (let number = 0; number < subjects; number++) {
    const manifest = {
      apiVersion: "svc.dev/v1",
      kind: "Agent",
      metadata: { name: `agent-${number}`, version: "1.0.0" },
      spec: { runtime: { language: "python", version: "3.11" }, task: { instruction: "Stand still." } },
    };
    const answer = await service.post("/v1/agents", manifest, { "X-Tenant-Id": `tenant-${tenant}` });
    if (!answer.ok) throw new Error(`deploy: ${answer.status} ${await answer.text()}`);
    const { agent_id } = (await answer.json()) as { agent_id: string };
    await sql`update runtime_counters set subject = ${agent_id} where subject = ${subjectId("agent", tenant, number)}`;
  }
}

async function compare(service: BenchService, list: string, rows: number): Promise<Row> {
  const found = { [small]: [] as number[], [large]: [] as number[] };
  for (let sample = -5; sample < samples; sample++) {
    for (const tenant of [small, large] as const) {
      const took = await timed(service, tenant, list);
      if (sample >= 0) found[tenant].push(took);
    }
  }
  return {
    name: list,
    unit: "ms",
    value: percentile(found[large], 0.5),
    floor: percentile(found[small], 0.5),
    floorIs: `a tenant with ${smallRows.toLocaleString("en-US")}`,
    goal: "<= 2x",
    note: `p50 of ${samples}, ${rows.toLocaleString("en-US")} rows`,
  };
}

async function timed(service: BenchService, tenant: 1 | 2, list: string): Promise<number> {
  const path = list
    .replace("@agent", subjectId("agent", tenant, 3))
    .replace("@workflow", subjectId("workflow", tenant, 3))
    .replace("@soon", new Date(Date.now() - 5_000).toISOString())
    .replace("@early", new Date(Date.now() - 500_000).toISOString());
  const began = performance.now();
  const answer = await fetch(service.url + path, {
    headers: { Authorization: `Bearer ${service.token}`, "X-Tenant-Id": `tenant-${tenant}` },
  });
  const text = await answer.text();
  const took = performance.now() - began;
  if (!answer.ok) throw new Error(`${list}: ${answer.status} ${text}`);
  return took;
}
