/**
 * Reports of a tenant with ten million activities in 30 days, beside one with a thousand. Takes long, so it runs only when
 * asked for by name: `bun run bench usage [--rows=10000000]`.
 */
import { groupings } from "../../actors/usage/figures.ts";
import { sumUp } from "../../src/features/usage/upkeep/summing.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { type BenchService, startBenchService } from "./service.ts";
import type { BenchStores } from "./stores.ts";
import { percentile, type Row } from "./table.ts";

const [small, large] = ["tenant-1", "tenant-2"] as const;
const smallRows = 1_000;
const samples = 20;
const atOnce = 500_000;
const minutes = 30 * 24 * 60;

export async function benchUsage(stores: BenchStores): Promise<Row[]> {
  const name = "usage";
  const service = await startBenchService(stores, name);
  const sql = openPostgres({ url: stores.databaseUrl, schema: name, poolSize: 4 });
  try {
    const wanted = process.argv.find((word) => word.startsWith("--rows="));
    const rows = Number(wanted?.slice("--rows=".length) ?? 10_000_000);
    await sql`update usage_progress set hours_until = now() + interval '1 day', days_until = now() + interval '1 day'`;
    for (const [tenant, count] of [
      [small, smallRows],
      [large, rows],
    ] as const) {
      const began = performance.now();
      await fill(sql, tenant, count);
      console.error(`${tenant}: ${count} rows in ${Math.round((performance.now() - began) / 1000)} s`);
    }
    await sql`vacuum analyze usage_activities`;
    await sql`
      update usage_progress set hours_until = date_trunc('hour', now() - interval '31 days', 'UTC'),
        days_until = date_trunc('day', now() - interval '31 days', 'UTC')`;
    const began = performance.now();
    while (await sumUp(sql));
    console.error(`summed up in ${Math.round((performance.now() - began) / 1000)} s`);
    await sql`vacuum analyze usage_sums`;
    const table: Row[] = [];
    for (const grouping of groupings) table.push(await compare(service, grouping, rows));
    return table;
  } finally {
    await sql.end();
    await service.stop();
  }
}

/** Spread over 30 days, by 40 agents, 3 models, 5 workflows and 20 tools. */
async function fill(sql: Sql, tenant: string, count: number): Promise<void> {
  const salt = tenant === small ? 1 : 2;
  for (let from = 0; from < count; from += atOnce) {
    await sql`
      insert into usage_activities (id, kind, tenant, at, agent_id, model, workflow, tool, input_tokens, output_tokens,
        cost, duration_ms)
      select (${salt} || lpad(to_hex(n), 31, '0'))::uuid, case when n % 10 < 4 then 2 when n % 10 < 8 then 3
          when n % 10 = 8 then 1 else 4 end, ${tenant},
        now() - n::float8 / ${count} * ${minutes} * interval '1 minute', 'agent-' || n % 40,
        case when n % 10 < 4 then 'model-' || n % 3 end, case when n % 7 < 3 then 'workflow-' || n % 5 end,
        case when n % 10 between 4 and 7 then 'tool-' || n % 20 end,
        case when n % 10 < 4 then 900 end, case when n % 10 < 4 then 60 end, case when n % 10 < 4 then 0.0012 end,
        case when n % 10 = 9 then 4000 end
      from generate_series(${from}::bigint, ${Math.min(count, from + atOnce) - 1}::bigint) as n`;
  }
}

async function compare(service: BenchService, grouping: string, rows: number): Promise<Row> {
  const found = { [small]: [] as number[], [large]: [] as number[] };
  for (let sample = -3; sample < samples; sample++) {
    for (const tenant of [small, large] as const) {
      const took = await timed(service, tenant, grouping);
      if (sample >= 0) found[tenant].push(took);
    }
  }
  return {
    name: `usage by ${grouping}`,
    unit: "ms",
    value: percentile(found[large], 0.5),
    floor: percentile(found[small], 0.5),
    floorIs: `a tenant with ${smallRows.toLocaleString("en-US")}`,
    goal: "<= 250 ms",
    note: `p50 of ${samples}, 30 days, ${rows.toLocaleString("en-US")} activities`,
  };
}

async function timed(service: BenchService, tenant: string, grouping: string): Promise<number> {
  const began = performance.now();
  const answer = await fetch(`${service.url}/v1/usage?group_by=${grouping}`, {
    headers: { Authorization: `Bearer ${service.token}`, "X-Tenant-Id": tenant },
  });
  const text = await answer.text();
  const took = performance.now() - began;
  if (!answer.ok) throw new Error(`usage: ${answer.status} ${text}`);
  return took;
}
