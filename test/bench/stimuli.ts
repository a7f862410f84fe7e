/**
 * Stimuli: how fast signed deliveries are taken in and become runs, how long one takes, and what an agent that chooses
 * the workflow costs. After every burst each accepted delivery must have started exactly one run, or the bench fails.
 */
import { systemTenant } from "../../actors/identity/identity.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { manifest, say } from "../harness/manifests.ts";
import {
  allStarted,
  type BareIntake,
  type Delivery,
  deliver,
  deliveries,
  deliverNext,
  prepare,
  prepareRouter,
  startBareIntake,
} from "./deliveries.ts";
import { type BenchService, startBenchService } from "./service.ts";
import { ageWriteAheadLog, type BenchStores, durability } from "./stores.ts";
import { percentile, pumped, type Row } from "./table.ts";

const width = 64;
const burst = 20_000;
const warm = 2_000;
/** Deliveries of the paced row, sent one by one at half the rate of the burst. */
const paced = 10_000;
const asked = 2_000;
const single = 1_000;

const bareIs = "a bare Bun server in a process of its own: HMAC, one XADD, JSON";

/** Accepted so far by all rows: what must have been started. */
let accepted = 0;

export async function benchStimuli(stores: BenchStores): Promise<Row[]> {
  const name = "stimuli";
  const service = await startBenchService(stores, name);
  const sql = openPostgres({ url: stores.databaseUrl, schema: name, poolSize: 4 });
  const bare = await startBareIntake(stores);
  try {
    await prepare(service, sql);
    await ageWriteAheadLog(sql);
    await accept(service, "received", warm);
    await accept(service, "routed", warm);
    await allStarted(sql, accepted);
    await bareRate(bare, warm);
    const received = await benchBurst(service, sql, bare);
    return [
      ...received.rows,
      ...(await benchRouted(service, sql, bare)),
      ...(await benchPaced(service, sql, bare, received.perSecond / 2)),
      ...(await benchEntered(service, sql, bare)),
      ...(await benchClassified(service, sql, stores)),
    ];
  } finally {
    bare.stop();
    await sql.end({ timeout: 2 });
    await service.stop();
  }
}

/** @returns milliseconds that so many deliveries took, 64 at a time */
async function accept(service: BenchService, acknowledge: "received" | "routed", count: number): Promise<number> {
  const { totalMs } = await pumped(count, width, (index) => deliverNext(service, acknowledge, index));
  accepted += count;
  return totalMs;
}

/** @returns deliveries a second */
async function bareRate({ url }: BareIntake, count: number): Promise<number> {
  const { totalMs } = await pumped(count, width, (index) => bareDelivery(url, index));
  return (count * 1000) / totalMs;
}

async function bareDelivery(url: string, index: number): Promise<void> {
  const { status } = await deliver(url, deliveries[index % deliveries.length] as Delivery, crypto.randomUUID());
  if (status !== 202) throw new Error(`the floor answered ${status}`);
}

async function benchBurst(service: BenchService, sql: Sql, bare: BareIntake) {
  const before = await bareRate(bare, burst);
  const acceptedMs = await accept(service, "received", burst);
  const at = performance.now();
  await allStarted(sql, accepted);
  const drainMs = performance.now() - at;
  const floor = (before + (await bareRate(bare, burst))) / 2;
  const perSecond = (burst * 1000) / acceptedMs;
  const rows: Row[] = [
    {
      name: "deliveries accepted, `received`, c=64",
      unit: "/s",
      value: perSecond,
      floor,
      floorIs: bareIs,
      goal: ">= 0.6x",
      note: `${burst} under keys of their own, 20 tenants, stored secrets, direct route, ${durability}`,
    },
    {
      name: "every accepted one started, after the burst",
      unit: "s",
      value: drainMs / 1000,
      floor: acceptedMs / 1000,
      floorIs: "the burst itself",
      goal: "–",
      note: `${accepted} accepted = ${accepted} classified = ${accepted} runs`,
    },
  ];
  return { perSecond, rows };
}

async function benchRouted(service: BenchService, sql: Sql, bare: BareIntake): Promise<Row[]> {
  const count = burst / 2;
  const totalMs = await accept(service, "routed", count);
  await allStarted(sql, accepted);
  return [
    {
      name: "deliveries accepted and started, `routed`, c=64",
      unit: "/s",
      value: (count * 1000) / totalMs,
      floor: await bareRate(bare, count),
      floorIs: bareIs,
      goal: "–",
      note: `each answered with its run, ${durability}`,
    },
  ];
}

async function benchPaced(service: BenchService, sql: Sql, bare: BareIntake, perSecond: number): Promise<Row[]> {
  const samples = await pacedAt(perSecond, paced, (index) => deliverNext(service, "received", index));
  accepted += paced;
  await allStarted(sql, accepted);
  const floor = await pacedAt(perSecond, paced, (index) => bareDelivery(bare.url, index));
  const row = (share: string, value: number, bareValue: number, goal: string): Row => ({
    name: `a delivery at half load, ${share}`,
    unit: "ms",
    value,
    floor: bareValue,
    floorIs: bareIs,
    goal,
    note: `${Math.round(perSecond)} a second whatever the answers do, from when each was due; runs start meanwhile`,
  });
  return [
    row("p50", percentile(samples, 0.5), percentile(floor, 0.5), "–"),
    row("p99", percentile(samples, 0.99), percentile(floor, 0.99), "<= 15"),
  ];
}

/** Sends at a rate without waiting for answers. @returns milliseconds from when each was due to its answer */
async function pacedAt(perSecond: number, count: number, send: (index: number) => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  const underWay: Promise<void>[] = [];
  const started = performance.now();
  for (let index = 0; index < count; ) {
    const due = started + (index * 1000) / perSecond;
    if (performance.now() < due) {
      await Bun.sleep(1);
      continue;
    }
    underWay.push(send(index++).then(() => void samples.push(performance.now() - due)));
  }
  await Promise.all(underWay);
  return samples;
}

/** From sending a delivery to the run's first state, as its log has it and as the answer tells it. */
async function benchEntered(service: BenchService, sql: Sql, bare: BareIntake): Promise<Row[]> {
  const lanes = 4;
  const answers: number[] = [];
  const run = async (index: number) => {
    const at = performance.now();
    const { workflow_execution_id } = JSON.parse(await deliverNext(service, "routed", index));
    answers.push(performance.now() - at);
    return workflow_execution_id as string;
  };
  const ids: string[] = [];
  await pumped(single, lanes, async (index) => ids.push(await run(index)));
  accepted += single;
  const [entered] = await sql<{ count: number }[]>`
    select count(*)::int as count from runtime_logs where kind = 'workflow_run' and key = any(${ids})
      and log = 'events' and entry like '%"WorkflowStateEntered"%'`;
  if (entered?.count !== single) throw new Error(`${entered?.count} of ${single} runs entered their state`);
  const background = await enteredInBackground(service, sql, lanes);
  const floor = await pumped(single, lanes, (index) => bareDelivery(bare.url, index));
  const row = (mode: string, value: number, note: string): Row => ({
    name: `delivery → first state entered, ${mode}, p50`,
    unit: "ms",
    value,
    floor: percentile(floor.samples, 0.5),
    floorIs: bareIs,
    goal: "<= 10",
    note: `c=4, ${note}`,
  });
  return [
    row("`routed`", percentile(answers, 0.5), "from sending it to an answer that stands on the committed entry"),
    row("`received`", percentile(background, 0.5), "from sending it to the time of the entry in the run's log"),
  ];
}

async function enteredInBackground(service: BenchService, sql: Sql, lanes: number): Promise<number[]> {
  const sent = new Map<string, number>();
  await pumped(single, lanes, async (index) => {
    const at = Date.now();
    const { stimulus_id } = JSON.parse(await deliverNext(service, "received", index));
    sent.set(stimulus_id, at);
  });
  accepted += single;
  await allStarted(sql, accepted);
  const rows = await sql<{ stimulus_id: string; at: string }[]>`
    select w.stimulus_id, l.at from workflow_runs w
    join runtime_logs l on l.kind = 'workflow_run' and l.key = w.run_id::text and l.log = 'events'
    where w.stimulus_id = any(${[...sent.keys()]}) and l.entry like '%"WorkflowStateEntered"%'`;
  if (rows.length !== single) throw new Error(`${rows.length} of ${single} runs entered their state`);
  return rows.map(({ stimulus_id, at }) => Number(at) - (sent.get(stimulus_id) ?? 0));
}

async function benchClassified(service: BenchService, sql: Sql, stores: BenchStores): Promise<Row[]> {
  const reply = say(JSON.stringify({ workflow: "intake", confidence: 0.93, reasoning: "a push" }));
  const source = await prepareRouter(service, manifest({ name: "bench-router", tools: [], script: [reply] }));
  const url = `${service.url}/v1/webhooks/${source}`;
  const own = deliveries.filter(({ tenant }) => tenant === systemTenant);
  const ask = async (index: number) => {
    const { status, text } = await deliver(url, own[index % own.length] as Delivery, crypto.randomUUID());
    if (status !== 200) throw new Error(`classification: ${status} ${text}`);
    accepted++;
  };
  await pumped(200, width, ask);
  const { totalMs, samples } = await pumped(asked, width, ask);
  await allStarted(sql, accepted);
  return [
    {
      name: "deliveries classified by an agent and started, c=64",
      unit: "/s",
      value: (asked * 1000) / totalMs,
      floor: await bareJobs(stores),
      floorIs: "one BullMQ job each that does nothing, waited for",
      goal: ">= 200",
      note: `an execution of a router agent each, its model answers at once, p99 ${percentile(samples, 0.99).toFixed(0)} ms`,
    },
  ];
}

/** @returns jobs a second that were added and waited for */
async function bareJobs({ redisUrl }: BenchStores): Promise<number> {
  const { Queue, QueueEvents, Worker } = await import("../../src/store/bullmq.ts");
  const { openBlockingRedis } = await import("../../src/store/redis/connections.ts");
  const options = () => ({ connection: openBlockingRedis(redisUrl), prefix: "bare" });
  const queue = new Queue("classify", options());
  const events = new QueueEvents("classify", options());
  const worker = new Worker("classify", async () => null, { ...options(), concurrency: width });
  await events.waitUntilReady();
  // Every job that is waited for listens to both.
  for (const emitter of [queue, events]) emitter.setMaxListeners(4 * width);
  // One that is gone at once may be looked for before its end is told.
  const kept = { removeOnComplete: { count: 1000 } };
  const run = async () => (await queue.add("job", {}, kept)).waitUntilFinished(events);
  await pumped(200, width, run);
  const { totalMs } = await pumped(asked, width, run);
  await Promise.all([worker.close(), queue.close(), events.close()]);
  return (asked * 1000) / totalMs;
}
