/**
 * What a node costs the stores and the machine as one of many: as many processes against real stores, idle and at a fixed
 * load of starts, beside a single one. Processor time is what counts: on a machine with fewer cores than nodes the clock
 * says little. BENCH_NODES are their numbers (2,50). Last, a node beside one that owns the only partition there is.
 */
import { readdirSync, readFileSync } from "node:fs";
import { openRedis } from "../../src/store/redis/connections.ts";
import { type BenchService, deployBenchAgent, startBenchService } from "./service.ts";
import type { BenchStores } from "./stores.ts";
import { pumped, type Row } from "./table.ts";

const numbers = (process.env.BENCH_NODES ?? "2,50").split(",").map(Number);
const idleSeconds = 15;
const loadSeconds = 15;
const startsPerSecond = 50;
const busyStarts = 6_000;
const concurrencyPerNode = 32;
const atOnce = 2;
/** Of one node, on machines where a connection may take longer than a node waits. */
const startAttempts = 5;
const settleMs = 5_000;
/** Of `/proc/<pid>/stat`, on every Linux that Bun runs on. */
const ticksPerSecond = 100;

export async function benchNodes(stores: BenchStores): Promise<Row[]> {
  const one = await measure(stores, "nodes1", 1);
  const rows: Row[] = [];
  for (const many of numbers) rows.push(...rowsOf(many, one, await measure(stores, `nodes${many}`, many)));
  return [...rows, ...(await idleWithout(stores))];
}

/** What a node costs that owns nothing. */
async function idleWithout(stores: BenchStores): Promise<Row[]> {
  const env = { SVC_DATABASE_POOL: "4", SVC_PARTITIONS: "1" };
  const nodes: BenchService[] = [];
  try {
    nodes.push(await startBenchService(stores, "nodes0", [], env));
    await Bun.sleep(settleMs);
    const alone = await during(stores, nodes, idleSeconds, async () => {});
    nodes.push(await startBenchService(stores, "nodes0", [], env));
    await Bun.sleep(settleMs);
    const both = await during(stores, nodes, idleSeconds, async () => {});
    const row = (name: string, unit: string, pick: (from: Rates) => number): Row => ({
      name: `without partitions: ${name}`,
      unit,
      value: pick(both) - pick(alone),
      floor: pick(alone),
      floorIs: "the node that owns the partition",
      goal: "",
      note: "what the second node adds",
    });
    return [
      row("transactions a second", "/s", ({ transactions }) => transactions),
      row("Redis commands a second", "/s", ({ commands }) => commands),
      row("CPU", "ms/s", ({ nodeCpu }) => nodeCpu),
    ];
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

function rowsOf(many: number, one: Measured, all: Measured): Row[] {
  const note = `${many} nodes; ${startsPerSecond} starts/s over all of them for the loaded rows`;
  const floorIs = "one node alone";
  const row = (name: string, unit: string, pick: (from: Measured) => number): Row => ({
    name: `${many} nodes: ${name}`,
    unit,
    value: pick(all),
    floor: pick(one),
    floorIs,
    goal: "",
    note,
  });
  const of = (state: "idle" | "loaded", per: string) => [
    row(`${state}: PostgreSQL connections ${per}`, "", (from) => from[state].connections / from.nodes),
    row(`${state}: transactions ${per} and second`, "/s", (from) => from[state].transactions / from.nodes),
    row(`${state}: Redis commands ${per} and second`, "/s", (from) => from[state].commands / from.nodes),
    row(`${state}: CPU ${per}`, "ms/s", (from) => from[state].nodeCpu / from.nodes),
    row(`${state}: CPU of PostgreSQL`, "ms/s", (from) => from[state].postgresCpu),
    row(`${state}: CPU of Redis`, "ms/s", (from) => from[state].redisCpu),
  ];
  return [
    row("until all nodes are ready", "s", (from) => from.joinSeconds),
    row("until one has left", "s", (from) => from.leaveSeconds),
    ...of("idle", "per node"),
    ...of("loaded", "per node"),
    row("busy: CPU of nodes per start", "ms", ({ busy }) => busy.nodeCpu / busyStarts),
    row("busy: CPU of nodes and stores per start", "ms", ({ busy }) => cpuOf(busy) / busyStarts),
    row(
      "CPU of nodes and stores per start",
      "ms",
      ({ idle, loaded }) => (cpuOf(loaded) - cpuOf(idle)) / startsPerSecond,
    ),
  ];
}

interface Rates {
  readonly connections: number;
  readonly transactions: number;
  readonly commands: number;
  /** Processor time, ms a second. */
  readonly nodeCpu: number;
  readonly postgresCpu: number;
  readonly redisCpu: number;
}

const cpuOf = ({ nodeCpu, postgresCpu, redisCpu }: Rates): number => nodeCpu + postgresCpu + redisCpu;

interface Measured {
  readonly nodes: number;
  readonly idle: Rates;
  readonly loaded: Rates;
  /** All in all, not per second. */
  readonly busy: Rates;
  readonly joinSeconds: number;
  readonly leaveSeconds: number;
}

async function measure(stores: BenchStores, name: string, count: number): Promise<Measured> {
  const nodes: BenchService[] = [];
  const env = { SVC_DATABASE_POOL: "4" };
  const began = performance.now();
  try {
    nodes.push(await startPatiently(stores, name, env));
    while (nodes.length < count) {
      const batch = Math.min(atOnce, count - nodes.length);
      nodes.push(...(await Promise.all(Array.from({ length: batch }, () => startPatiently(stores, name, env)))));
    }
    const joinSeconds = (performance.now() - began) / 1000;
    await Bun.sleep(settleMs);
    const idle = await during(stores, nodes, idleSeconds, async () => {});
    const [first] = nodes;
    if (first === undefined) throw new Error("at least one node is measured");
    const agentId = await deployBenchAgent(first, "bench-nodes");
    const loaded = await during(stores, nodes, loadSeconds, (seconds) => load(nodes, agentId, seconds));
    const busy = await total(stores, nodes, async () => {
      const body = { agent_id: agentId, input: "x" };
      await pumped(busyStarts, concurrencyPerNode * nodes.length, async (n) => start(nodes, n, body));
    });
    const leaveAt = performance.now();
    await nodes.pop()?.stop();
    return { nodes: count, idle, loaded, busy, joinSeconds, leaveSeconds: (performance.now() - leaveAt) / 1000 };
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

async function startPatiently(stores: BenchStores, name: string, env: Record<string, string>): Promise<BenchService> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startBenchService(stores, name, [], env);
    } catch (error) {
      if (attempt === startAttempts) throw error;
      console.error(`a node did not start: ${String(error)}`);
    }
  }
}

/** Starts at even distances, to each node in turn. */
async function load(nodes: readonly BenchService[], agent_id: string, seconds: number): Promise<void> {
  const began = performance.now();
  const answers: Promise<void>[] = [];
  for (let n = 0; n < seconds * startsPerSecond; n++) {
    await Bun.sleep(Math.max(0, began + (n * 1000) / startsPerSecond - performance.now()));
    answers.push(start(nodes, n, { agent_id, input: "x" }));
  }
  await Promise.all(answers);
}

async function start(nodes: readonly BenchService[], n: number, body: unknown): Promise<void> {
  let answer = await nodes[n % nodes.length]?.post("/v1/executions", body);
  // A node that got too little of the processor says so: its client asks again, as one of a balancer does.
  for (let again = 0; answer?.status === 503 && again < 50; again++) {
    await answer.arrayBuffer();
    await Bun.sleep(200);
    answer = await nodes[(n + again) % nodes.length]?.post("/v1/executions", body);
  }
  if (answer?.ok !== true) throw new Error(`start: ${answer?.status} ${await answer?.text()}`);
  await answer.arrayBuffer();
}

/** Of each second while it works. */
function during(
  stores: BenchStores,
  nodes: readonly BenchService[],
  seconds: number,
  work: (seconds: number) => Promise<void>,
): Promise<Rates> {
  return between(stores, nodes, () => Promise.all([Bun.sleep(seconds * 1000), work(seconds)]), true);
}

/** Of all of the work. */
const total = (stores: BenchStores, nodes: readonly BenchService[], work: () => Promise<void>): Promise<Rates> =>
  between(stores, nodes, work, false);

async function between(
  stores: BenchStores,
  nodes: readonly BenchService[],
  work: () => Promise<unknown>,
  perSecond: boolean,
): Promise<Rates> {
  const before = await look(stores, nodes);
  await work();
  const after = await look(stores, nodes);
  const elapsed = perSecond ? (after.at - before.at) / 1000 : 1;
  const rate = (pick: (from: typeof after) => number) => (pick(after) - pick(before)) / elapsed;
  return {
    connections: after.connections,
    transactions: rate(({ transactions }) => transactions),
    commands: rate(({ commands }) => commands),
    nodeCpu: rate(({ nodeCpu }) => nodeCpu),
    postgresCpu: rate(({ postgresCpu }) => postgresCpu),
    redisCpu: rate(({ redisCpu }) => redisCpu),
  };
}

async function look({ sql, redisUrl }: BenchStores, nodes: readonly BenchService[]) {
  const [row] = await sql<{ connections: number; transactions: number; backend: number }[]>`
    select (select count(*)::int from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
              and application_name <> ${"bench"}) as connections,
           (select (xact_commit + xact_rollback)::float8 from pg_stat_database where datname = current_database())
             as transactions,
           pg_backend_pid() as backend`;
  const redis = openRedis(redisUrl);
  const info = await redis.info();
  redis.disconnect();
  const field = (name: string) => Number(new RegExp(`^${name}:([0-9.]+)`, "m").exec(info)?.[1] ?? 0);
  return {
    at: performance.now(),
    connections: row?.connections ?? 0,
    transactions: row?.transactions ?? 0,
    commands: field("total_commands_processed"),
    redisCpu: (field("used_cpu_user") + field("used_cpu_sys")) * 1000,
    nodeCpu: nodes.reduce((sum, { pid }) => sum + cpuMs(pid, false), 0),
    postgresCpu: serverCpuMs(parentOf(row?.backend ?? 0)),
  };
}

/** The numbers of `/proc/<pid>/stat` behind the name, from the third field on; empty for a process that is gone. */
function statOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
  } catch {
    return [];
  }
}

const parentOf = (pid: number): number => statOf(pid)[1] ?? 0;

/** Processor time that a process has taken. @param withEnded also of children that have ended */
export function cpuMs(pid: number, withEnded = false): number {
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = statOf(pid).slice(11, 15);
  return ((user + system + (withEnded ? endedUser + endedSystem : 0)) * 1000) / ticksPerSecond;
}

/** Processor time that the server behind a connection has taken with all of its processes. */
export async function postgresCpuMs(sql: BenchStores["sql"]): Promise<number> {
  const [row] = await sql<{ backend: number }[]>`select pg_backend_pid() as backend`;
  return serverCpuMs(parentOf(row?.backend ?? 0));
}

/** Of a server with a process for each connection. */
function serverCpuMs(server: number): number {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const children = pids.filter((pid) => parentOf(pid) === server);
  return children.reduce((sum, pid) => sum + cpuMs(pid, false), cpuMs(server, true));
}
