/** How long a durable `POST /v1/executions` takes, alone and among 32. */
import { deployBenchAgent, startBenchService } from "./service.ts";
import { type BenchStores, durability } from "./stores.ts";
import { percentile, pumped, type Row } from "./table.ts";

export async function benchStarts(stores: BenchStores): Promise<Row[]> {
  const service = await startBenchService(stores, "starts");
  try {
    const agentId = await deployBenchAgent(service, "bench-start");
    const body = JSON.stringify({ agent_id: agentId, input: "x".repeat(200) });
    const start = async () => {
      const answer = await service.post("/v1/executions", body);
      if (answer.status !== 200) throw new Error(`start: ${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    };
    await pumped(2000, 32, start);
    const alone = await pumped(1000, 1, start);
    const among = await pumped(20_000, 32, start);
    const floor = await startFloor(stores);
    const note = `one process, execution stubbed out at the sandbox port, ${durability}`;
    const floorIs = "bare Bun server, one committed INSERT per request";
    const row = (name: string, unit: string, value: number, bare: number, goal: string): Row => ({
      name,
      unit,
      value,
      floor: bare,
      floorIs,
      goal,
      note,
    });
    return [
      row("POST /v1/executions c=1, p50", "ms", percentile(alone.samples, 0.5), floor.aloneP50, "<= 1.8"),
      row("POST /v1/executions c=32", "/s", (20_000 / among.totalMs) * 1000, floor.perSecond, ">= 4,000"),
      row("POST /v1/executions c=32, p99", "ms", percentile(among.samples, 0.99), floor.amongP99, "<= 30"),
    ];
  } finally {
    await service.stop();
  }
}

export async function startFloor({
  sql,
}: BenchStores): Promise<{ aloneP50: number; perSecond: number; amongP99: number }> {
  await sql`create table if not exists bench_start (id uuid primary key, body text)`;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const id = Bun.randomUUIDv7();
      await sql`insert into bench_start values (${id}, ${await request.text()})`;
      return Response.json({ execution_id: id });
    },
  });
  const body = "x".repeat(300);
  const start = async () => (await fetch(server.url, { method: "POST", body })).arrayBuffer();
  await pumped(1000, 32, start);
  const alone = await pumped(1000, 1, start);
  const among = await pumped(10_000, 32, start);
  await server.stop(true);
  return {
    aloneP50: percentile(alone.samples, 0.5),
    perSecond: (10_000 / among.totalMs) * 1000,
    amongP99: percentile(among.samples, 0.99),
  };
}
