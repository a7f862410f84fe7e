/**
 * Runs that wait for a stimulus: what a hundred thousand of them cost, and what they add to a delivery at their source,
 * whether it fits none of them or one.
 */
import { systemTenant } from "../../actors/identity/identity.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { liftRates } from "../harness/rates.ts";
import { until } from "../harness/until.ts";
import { type BenchService, residentMiB, startBenchService } from "./service.ts";
import { type BenchStores, durability } from "./stores.ts";
import { percentile, pumped, type Row } from "./table.ts";

const waiting = 100_000;
const sent = 1_000;
/** A node forgets idle actors after this long. */
const idleSeconds = 5;

const noop = { kind: "System", command: "noop", transitions: [] };
const awaiting = {
  initial_state: "AWAIT",
  states: {
    AWAIT: {
      kind: "Wait",
      stimulus: { source: "orders", key: "order.id", equals: "{{input.order}}" },
      transitions: [{ condition: "on_success", target: "DONE" }],
    },
    DONE: noop,
  },
};

export async function benchWaits(stores: BenchStores): Promise<Row[]> {
  const name = "waits";
  const service = await startBenchService(stores, name, [], { SVC_ACTOR_IDLE_SECONDS: String(idleSeconds) });
  const sql = openPostgres({ url: stores.databaseUrl, schema: name, poolSize: 4 });
  try {
    await liftRates(sql, systemTenant);
    await register(service, "awaits", awaiting);
    await register(service, "takes", { initial_state: "DONE", states: { DONE: noop } });
    for (const source of ["orders", "calm"]) {
      await made(service, "/v1/stimulus-routes", { source, workflow: "takes" });
    }
    return await measured(service, sql);
  } finally {
    await sql.end({ timeout: 2 });
    await service.stop();
  }
}

async function measured(service: BenchService, sql: Sql): Promise<Row[]> {
  const deliver = async (order: string, source = "orders") => {
    const answer = await made(service, "/v1/stimuli", { source, content: { order: { id: order } } });
    return (answer as { taken_by: string[] }).taken_by.length;
  };
  await pumped(sent, 1, (index) => deliver(`warm-${index}`));
  const before = await settled(service);
  const begun = await pumped(waiting, 32, (index) =>
    made(service, "/v1/workflows/awaits/run", { input: { order: `order-${index}` } }),
  );
  await until(async () => (await waits(sql)) === waiting, { what: "every run to wait", timeoutMs: 600_000 });
  await sql`vacuum analyze workflow_waits`;
  const after = await settled(service);
  const row = (await bytesOf(sql, "workflow_waits")) / waiting;
  const [actor] = await sql<{ bytes: number }[]>`
    select avg(length(state) + length(coalesce(listed, '')))::float as bytes from runtime_actors
    where kind = 'workflow_run' and key in (select taker::text from workflow_waits limit 1000)`;
  // By turns, so that all three meet the machine as it is at the moment.
  const [without, beside, fitting]: [number[], number[], number[]] = [[], [], []];
  const timed = async (samples: number[], order: string, source?: string) => {
    const at = performance.now();
    const taken = await deliver(order, source);
    samples.push(performance.now() - at);
    return taken;
  };
  let taken = 0;
  await pumped(sent, 1, async (index) => {
    await timed(without, `none-${index}`, "calm");
    await timed(beside, `none-${index}`);
    taken += await timed(fitting, `order-${index}`);
  });
  if (taken !== sent) throw new Error(`${taken} of ${sent} were taken`);
  const note = `${waiting.toLocaleString("en-US")} runs wait at the source, ${durability}`;
  const delivery = (name: string, samples: number[], share: number, goal: string): Row => ({
    name,
    unit: "ms",
    value: percentile(samples, share),
    floor: percentile(without, share),
    floorIs: "the same at a source where no run waits",
    goal,
    note,
  });
  return [
    delivery("delivery that fits no waiting run, p50", beside, 0.5, "<= 1.2x"),
    delivery("delivery that fits no waiting run, p99", beside, 0.99, "–"),
    delivery("delivery that one waiting run takes, p50", fitting, 0.5, "–"),
    {
      name: "row of a waiting run, with its indexes",
      unit: "bytes",
      value: row,
      floor: actor?.bytes ?? Number.NaN,
      floorIs: "the state of the run itself, as every run has it",
      goal: "–",
      note: `${note}; begun at ${Math.round((waiting * 1000) / begun.totalMs)}/s`,
    },
    {
      name: "memory of the node for the waiting runs",
      unit: "MiB",
      value: after - before,
      floor: before,
      floorIs: "the node before",
      goal: "rows only",
      note: `${idleSeconds + 3} s after the last one began to wait`,
    },
  ];
}

async function settled(service: BenchService): Promise<number> {
  await Bun.sleep((idleSeconds + 3) * 1000);
  return residentMiB(service.pid);
}

async function waits(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from workflow_waits`;
  return row?.count ?? 0;
}

async function bytesOf(sql: Sql, table: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`select pg_total_relation_size(${table}::regclass)::float as bytes`;
  return row?.bytes ?? Number.NaN;
}

const register = (service: BenchService, name: string, spec: object): Promise<unknown> =>
  made(service, "/v1/workflows?force=true", {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name },
    spec,
  });

async function made(service: BenchService, path: string, body: object): Promise<unknown> {
  const answer = await service.post(path, body);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
