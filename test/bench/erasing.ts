/**
 * How fast a node erases what is past its retention, beside how fast the same comes in: executions and runs as a node has
 * left them, copied by SQL many times with an end long ago, and stimuli. Runs when asked for by name.
 */
import { partitionOf } from "../../src/runtime/mailbox/partition.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { until } from "../harness/until.ts";
import { cpuMs, postgresCpuMs } from "./nodes.ts";
import { type BenchService, deployBenchAgent, startBenchService } from "./service.ts";
import type { BenchStores } from "./stores.ts";
import type { Row } from "./table.ts";

const name = "erasing";
const partitions = 256;
const copies = Number(process.env.BENCH_ERASED ?? "20000");
const dayMs = 86_400_000;
/** Beyond every retention. */
const longAgoMs = 400 * dayMs;
/** Of the operations' figures: what is accepted and started in a second. */
const intake = { executions: 2_500, runs: 2_500, stimuli: 3_500 } as const;

export async function benchErasing(stores: BenchStores): Promise<Row[]> {
  const sql = openPostgres({ url: stores.databaseUrl, schema: name, poolSize: 4 });
  try {
    const service = await startBenchService(stores, name);
    try {
      await leaveTemplates(service, sql);
    } finally {
      await service.stop();
    }
    const rows: Row[] = [];
    for (const kind of ["executions", "runs", "stimuli"] as const) {
      await fill[kind](sql);
      await sql.unsafe("analyze");
      rows.push(...(await erased(stores, sql, kind)));
    }
    return rows;
  } finally {
    await sql.end({ timeout: 2 });
  }
}

/** One of each kind that has ended. */
async function leaveTemplates(service: BenchService, sql: Sql): Promise<void> {
  const agent_id = await deployBenchAgent(service, "bench-erased");
  const answer = await service.post("/v1/executions", { agent_id, input: "x".repeat(200) });
  const { execution_id } = (await answer.json()) as { execution_id: string };
  await service.post(`/v1/executions/${execution_id}/cancel`, {});
  const spec = { initial_state: "DONE", states: { DONE: { kind: "System", command: "noop", transitions: [] } } };
  const metadata = { name: "erased" };
  await service.post("/v1/workflows?force=true", { apiVersion: "svc.dev/v1", kind: "Workflow", metadata, spec });
  await service.post("/v1/workflows/erased/run", { input: { invoice: "x" } });
  await until(async () => {
    const [row] = await sql<{ ended: number }[]>`
      select (select count(*) from executions where ended_at is not null)::int
        + (select count(*) from workflow_runs where ended_at is not null)::int as ended`;
    return row?.ended === 2;
  });
}

const tables = { executions: "executions", runs: "workflow_runs", stimuli: "stimuli" } as const;

const fill = {
  executions: (sql: Sql) => copyActors(sql, "execution", "executions", "execution_id"),
  runs: (sql: Sql) => copyActors(sql, "workflow_run", "workflow_runs", "run_id"),
  async stimuli(sql: Sql): Promise<void> {
    const at = Date.now() - longAgoMs;
    const ids = JSON.stringify(Array.from({ length: copies }, () => Bun.randomUUIDv7("hex", at)));
    await sql`
      insert into stimuli (tenant, id, source, channel, acknowledge, status, content, content_encoding, content_size,
        content_sha256, headers, headers_truncated, run_id, received_by_kind, received_by_sub, received_by_email,
        received_by_tier, received_at, last_event_at, due_at)
      select 'svc-system', id::uuid, 'bench', 'webhook', 'received', 'classified', repeat('x', 230), 'utf-8', 230,
        repeat('0', 64), '{}', false, id::uuid, 'service', 's', 's@example.com', 'enterprise', now() - interval '400 days', now(), now()
      from jsonb_array_elements_text(${ids}::text::jsonb) as id`;
  },
} as const;

/** Copies the actor of a kind with its logs and its row in the list. */
async function copyActors(sql: Sql, kind: string, table: string, id: string): Promise<void> {
  const ids = Array.from({ length: copies }, () => Bun.randomUUIDv7());
  const made = JSON.stringify(ids.map((key) => ({ key, partition: partitionOf(kind, key, partitions) })));
  const from = "jsonb_to_recordset($1::text::jsonb) as made (key text, partition int)";
  await sql.unsafe(
    `insert into runtime_actors (kind, key, tenant, partition, version, logs, state, listed, timers, format)
     select kind, made.key, tenant, made.partition, version, logs, state, listed, timers, format
     from runtime_actors a cross join ${from} where a.kind = $2`,
    [made, kind],
  );
  await sql.unsafe(
    `insert into runtime_logs (kind, key, log, seq, at, entry) select l.kind, made.key, l.log, l.seq, l.at, l.entry
     from runtime_logs l cross join ${from} where l.kind = $2`,
    [made, kind],
  );
  await sql.unsafe(
    `insert into ${table} select copy.* from ${table} one cross join ${from}
     cross join jsonb_populate_record(one, jsonb_build_object('${id}', made.key, 'ended_at', now() - interval '400 days')) copy`,
    [made],
  );
}

async function erased(stores: BenchStores, sql: Sql, kind: keyof typeof tables): Promise<Row[]> {
  const past = `${tables[kind]} where ${kind === "stimuli" ? "received_at" : "ended_at"} < now() - interval '300 days'`;
  const left = async () => {
    const [row] = await sql.unsafe<{ count: number }[]>(`select count(*)::int as count from ${past}`);
    return row?.count ?? 0;
  };
  const isOver = async () => (await sql.unsafe(`select from ${past} limit 1`)).length === 0;
  const service = await startBenchService(stores, name);
  try {
    // What went before the node said that it is there is not counted.
    const began = {
      at: performance.now(),
      left: await left(),
      node: cpuMs(service.pid),
      stores: await postgresCpuMs(sql),
    };
    // Not so often that the looks are part of what is measured.
    await until(isOver, { what: `${kind} to be erased`, timeoutMs: 180_000, everyMs: 100 });
    const seconds = (performance.now() - began.at) / 1000;
    const note = `${began.left} past their retention, one node, processor time of the node and of PostgreSQL`;
    const row = (what: string, unit: string, value: number, floor: number): Row => ({
      name: `${kind} erased${what}`,
      unit,
      value,
      floor,
      floorIs: "as many come in a second",
      goal: "",
      note,
    });
    const each = (ms: number) => (ms * 1000) / Math.max(1, began.left);
    return [
      row("", "/s", began.left / seconds, intake[kind]),
      row(": CPU of the node", "us each", each(cpuMs(service.pid) - began.node), 1),
      row(": CPU of PostgreSQL", "us each", each((await postgresCpuMs(sql)) - began.stores), 1),
    ];
  } finally {
    await service.stop();
  }
}
