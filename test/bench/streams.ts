/** What open event streams cost, and how soon an event reaches a thousand of them. */
import { join } from "node:path";
import { type BenchService, residentMiB, startBenchService } from "./service.ts";
import { type BenchStores, durability } from "./stores.ts";
import { percentile, type Row } from "./table.ts";

/** A node gives one tenant at most this many. */
const perTenant = 200;
const idleStreams = 5000;
const readers = 1000;
const events = 5;

export async function benchStreams(stores: BenchStores): Promise<Row[]> {
  const service = await startBenchService(stores, "streams");
  try {
    const tenants = Array.from({ length: idleStreams / perTenant }, (_, index) => `bench-${index}`);
    const idle = await Promise.all(tenants.map((tenant) => startIn(service, tenant)));
    const warm = await openAll(service, idle.slice(0, 1), 100);
    for (const reader of warm) reader.close();
    await Bun.sleep(1500);
    const before = await residentMiB(service.pid);
    const open = await openAll(service, idle, perTenant);
    await Bun.sleep(3000);
    const kib = ((await residentMiB(service.pid)) - before) * (1024 / idleStreams);
    for (const reader of open) reader.close();
    await Bun.sleep(1000);
    const delivery: number[] = [];
    for (let round = 0; round < events; round++)
      delivery.push(...(await deliver(service, tenants.slice(0, readers / perTenant))));
    const bare = await floor();
    return [
      {
        name: "5,000 idle event streams, each",
        unit: "KiB",
        value: kib,
        floor: bare.kib,
        floorIs: "bare Bun server with direct streams",
        goal: "<= 12",
        note: "growth of resident memory, every stream following an execution",
      },
      {
        name: "one event to 1,000 streams, p99",
        unit: "ms",
        value: percentile(delivery, 0.99),
        floor: bare.deliveryP99,
        floorIs: "bare Bun server writing to 1,000 streams",
        goal: "-",
        note: `from asking for the cancellation of five executions to each of their 200 readers having read it, ${durability}`,
      },
    ];
  } finally {
    await service.stop();
  }
}

interface Place {
  readonly tenant: string;
  readonly executionId: string;
}

async function startIn(service: BenchService, tenant: string): Promise<Place> {
  const headers = { "X-Tenant-Id": tenant };
  const manifest = {
    apiVersion: "svc.dev/v1",
    kind: "Agent",
    metadata: { name: "bench-stream", version: "1.0.0" },
    spec: { runtime: { language: "python", version: "3.11" }, task: { instruction: "Stand still." } },
  };
  const deployed = await service.post("/v1/agents?force=true", manifest, headers);
  const { agent_id } = (await deployed.json()) as { agent_id: string };
  const started = await service.post("/v1/executions", { agent_id, input: "" }, headers);
  const { execution_id } = (await started.json()) as { execution_id: string };
  return { tenant, executionId: execution_id };
}

interface Reader {
  /** Resolves with the time at which a text was read. */
  reads(text: string): Promise<number>;
  close(): void;
}

async function openAll(service: BenchService, places: readonly Place[], each: number): Promise<Reader[]> {
  const { hostname, port } = new URL(service.url);
  const wanted = places.flatMap((place) => Array.from({ length: each }, () => place));
  const out: Reader[] = [];
  for (let start = 0; start < wanted.length; start += 100) {
    const some = wanted
      .slice(start, start + 100)
      .map(({ tenant, executionId }) =>
        openReader(hostname, Number(port), [
          `GET /v1/executions/${executionId}/stream HTTP/1.1`,
          "Host: bench.test",
          `Authorization: Bearer ${service.token}`,
          `X-Tenant-Id: ${tenant}`,
        ]),
      );
    out.push(...(await Promise.all(some)));
  }
  return out;
}

/** A raw socket: a client as thin as can be, so that it does not slow down what it measures. */
async function openReader(hostname: string, port: number, head: readonly string[]): Promise<Reader> {
  let text = "";
  let waiting: { text: string; resolve(at: number): void } | null = null;
  const opened = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname,
    port,
    socket: {
      data(_socket, chunk) {
        text = (text + chunk.toString("latin1")).slice(-4096);
        if (text.includes("\r\n\r\n")) opened.resolve();
        if (waiting !== null && text.includes(waiting.text)) waiting.resolve(performance.now());
      },
    },
  });
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  await opened.promise;
  return {
    reads: (wanted) =>
      new Promise((resolve) => {
        if (text.includes(wanted)) resolve(performance.now());
        else waiting = { text: wanted, resolve };
      }),
    close: () => socket.end(),
  };
}

async function deliver(service: BenchService, tenants: readonly string[]): Promise<number[]> {
  const places = await Promise.all(tenants.map((tenant) => startIn(service, tenant)));
  const open = await openAll(service, places, perTenant);
  const read = open.map((reader) => reader.reads("execution_cancelled"));
  const asked = performance.now();
  await Promise.all(
    places.map(({ tenant, executionId }) =>
      service.post(`/v1/executions/${executionId}/cancel`, {}, { "X-Tenant-Id": tenant }),
    ),
  );
  const times = await Promise.all(read);
  for (const reader of open) reader.close();
  return times.map((at) => at - asked);
}

/** The same with nothing behind it. */
async function floor(): Promise<{ kib: number; deliveryP99: number }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "floors/bare-streams.ts")], { stdout: "pipe" });
  const line = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(line.value));
  const open = async (count: number) => {
    const out: Reader[] = [];
    for (let start = 0; start < count; start += 100) {
      const some = Array.from({ length: 100 }, () =>
        openReader("127.0.0.1", port, ["GET / HTTP/1.1", "Host: bench.test"]),
      );
      out.push(...(await Promise.all(some)));
    }
    return out;
  };
  for (const reader of await open(100)) reader.close();
  await Bun.sleep(1500);
  const before = await residentMiB(child.pid);
  const idle = await open(idleStreams);
  await Bun.sleep(2000);
  const kib = ((await residentMiB(child.pid)) - before) * (1024 / idleStreams);
  for (const reader of idle) reader.close();
  const readersOpen = await open(readers);
  const read = readersOpen.map((reader) => reader.reads("data: event"));
  const asked = performance.now();
  await fetch(`http://127.0.0.1:${port}/send`);
  const times = (await Promise.all(read)).map((at) => at - asked);
  child.kill();
  return { kib, deliveryP99: percentile(times, 0.99) };
}
