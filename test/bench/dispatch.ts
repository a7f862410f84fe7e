/** One cycle of the inner loop: a command's result in, a model asked that answers at once, the next command out. */
import { cpuEach, cpuTimes } from "./cpu.ts";
import { type BenchService, deployBenchAgent, startBenchService } from "./service.ts";
import { type BenchStores, durability } from "./stores.ts";
import { percentile, pumped, type Row } from "./table.ts";

const script = [{ tool_calls: [{ name: "cmd.run", arguments: { command: "true", args: [] } }] }];
const prompt = `Run one command after another.\n\n\`\`\`svc-script\n${JSON.stringify(script)}\n\`\`\`\n`;
const executions = 12;
/** Before these: the engine compiles for some thousand cycles. */
const warming = 30;
// As many as a loop makes at the most with default settings.
const cycles = 49;

export async function benchDispatch(stores: BenchStores): Promise<Row[]> {
  const service = await startBenchService(stores, "dispatch");
  try {
    const agentId = await deployBenchAgent(service, "bench-dispatch", prompt);
    const first: number[] = [];
    for (let round = 0; round < warming; round++) {
      const samples = await loop(service, agentId);
      if (round < executions) first.push(...samples);
    }
    const samples: number[] = [];
    const before = cpuTimes(service.pid, stores.dataDir);
    for (let round = 0; round < executions; round++) samples.push(...(await loop(service, agentId)));
    const used = cpuEach(before, cpuTimes(service.pid, stores.dataDir), executions * cycles);
    const cold = `${percentile(first, 0.5).toFixed(2)} ms in the node's first ${executions} executions`;
    return [
      {
        name: "dispatch cycle, instant model, p50",
        unit: "ms",
        value: percentile(samples, 0.5),
        floor: await floor(stores),
        floorIs: "bare Bun server, two committed INSERTs one after the other",
        goal: "<= 4",
        note: `dispatch_result in, dispatch out, over loopback HTTP: two durable turns and a model call, ${durability}; ${cold}; ${used}`,
      },
    ];
  } finally {
    await service.stop();
  }
}

async function loop(service: BenchService, agentId: string): Promise<number[]> {
  const started = await service.post("/v1/executions", { agent_id: agentId, input: "go" });
  const { execution_id } = (await started.json()) as { execution_id: string };
  const token = await service.tokenOf(execution_id);
  const send = async (message: object) => {
    const answer = await fetch(`${service.internalUrl}/v1/dispatch-gateway`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ execution_id, ...message }),
    });
    const reply = (await answer.json()) as { type?: string; dispatch_id?: string };
    if (reply.type !== "dispatch") throw new Error(`gateway: ${answer.status} ${JSON.stringify(reply)}`);
    return reply.dispatch_id;
  };
  let dispatchId = await send({ type: "generate", iteration_number: 1, model_alias: "default", prompt });
  const { samples } = await pumped(cycles, 1, async () => {
    dispatchId = await send({ type: "dispatch_result", dispatch_id: dispatchId, exit_code: 0, stdout: "ok\n" });
  });
  await service.post(`/v1/executions/${execution_id}/cancel`, {});
  return samples.slice(5);
}

async function floor({ sql }: BenchStores): Promise<number> {
  await sql`create table if not exists bench_dispatch (id uuid primary key, body text)`;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = await request.text();
      await sql`insert into bench_dispatch values (${Bun.randomUUIDv7()}, ${body})`;
      await sql`insert into bench_dispatch values (${Bun.randomUUIDv7()}, ${body})`;
      return new Response(body);
    },
  });
  const { samples } = await pumped(500, 1, async () => {
    await (await fetch(server.url, { method: "POST", body: "x".repeat(300) })).text();
  });
  await server.stop(true);
  return percentile(samples.slice(50), 0.5);
}
