/** Schedules of workflows: how late runs start when ten thousand schedules are due once a minute. */
import { systemTenant } from "../../actors/identity/identity.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { liftRates } from "../harness/rates.ts";
import { until } from "../harness/until.ts";
import { startBenchService } from "./service.ts";
import { type BenchStores, durability } from "./stores.ts";
import { percentile, type Row } from "./table.ts";

const workflows = 1_250;
const schedulesEach = 8;
const minute = 60_000;

export async function benchSchedules(stores: BenchStores): Promise<Row[]> {
  const name = "schedules";
  const service = await startBenchService(stores, name);
  const sql = openPostgres({ url: stores.databaseUrl, schema: name, poolSize: 4 });
  try {
    await liftRates(sql, systemTenant);
    const begun = performance.now();
    const schedules = Array.from({ length: schedulesEach }, (_, index) => ({ name: `s${index}`, every: "60s" }));
    for (let index = 0; index < workflows; index++) {
      // Spread over the minute, so that starts are as well.
      await Bun.sleep(Math.max(0, begun + (index * minute) / workflows - performance.now()));
      const manifest = {
        apiVersion: "svc.dev/v1",
        kind: "Workflow",
        metadata: { name: `w${index}` },
        spec: {
          initial_state: "A",
          states: { A: { kind: "System", command: "noop", transitions: [] } },
          schedules,
        },
      };
      const answer = await service.post("/v1/workflows", manifest);
      if (!answer.ok) throw new Error(`register: ${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    }
    const from = Date.now();
    await until(() => Date.now() > from + minute + 10_000, { what: "a minute of starts", timeoutMs: 120_000 });
    const late = await lateness(sql, from, from + minute);
    const count = late.length;
    const floor = await bareLateness(stores.sql);
    const row = (share: string, of: number, goal: string): Row => ({
      name: `a schedule's time → its run begins, ${share}`,
      unit: "ms",
      value: percentile(late, of),
      floor: percentile(floor, of),
      floorIs: "a timer in memory and one committed INSERT",
      goal,
      note: `10,000 schedules of a minute each in groups of ${schedulesEach}, ${count} starts, ${durability}`,
    });
    return [row("p50", 0.5, "–"), row("p99", 0.99, "<= 100")];
  } finally {
    await sql.end({ timeout: 2 });
    await service.stop();
  }
}

/** Of the runs that began within a span, ms. */
async function lateness(sql: Sql, from: number, to: number): Promise<number[]> {
  const rows = await sql<{ began: number; anchor: number }[]>`
    select extract(epoch from r.started_at)::float8 * 1000 as began, extract(epoch from s.created_at)::float8 * 1000 as anchor
    from runtime_actors a
    join workflow_runs r on r.run_id::text = a.key
    join workflow_schedules s on s.schedule_id::text = a.listed::json -> 'header' ->> 'schedule_id'
    where a.kind = 'workflow_run' and r.started_at >= ${new Date(from)} and r.started_at < ${new Date(to)}`;
  return rows.map(({ began, anchor }) => (began - anchor) % minute);
}

/** The same groups at the same pace, ten seconds of them. */
async function bareLateness(sql: Sql): Promise<number[]> {
  await sql`create table if not exists bench_due (id bigserial primary key, body text)`;
  const groups = workflows / 6;
  const late: number[] = [];
  const waits: Promise<void>[] = [];
  const begun = performance.now();
  for (let index = 0; index < groups; index++) {
    const due = begun + 100 + (index * minute) / workflows;
    for (let one = 0; one < schedulesEach; one++) {
      waits.push(
        Bun.sleep(due - performance.now()).then(async () => {
          await sql`insert into bench_due (body) values (${"x".repeat(1200)})`;
          late.push(performance.now() - due);
        }),
      );
    }
  }
  await Promise.all(waits);
  return late;
}
