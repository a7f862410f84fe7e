/** The egress proxy: what it adds to a request and to a new connection, and how much it moves. */
import { connect, createServer, type Socket } from "node:net";
import { deployBenchAgent, startBenchService } from "./service.ts";
import type { BenchStores } from "./stores.ts";
import { percentile, pumped, type Row } from "./table.ts";

const requests = 3_000;
const tunnels = 500;
const megabytes = 512;
const piece = Buffer.alloc(256 * 1024, 7);
const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

export async function benchEgress(stores: BenchStores): Promise<Row[]> {
  const server = createServer({ noDelay: true }, serve);
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  const service = await startBenchService(stores, "egress", [], { SVC_EGRESS_ALLOW_PRIVATE: '["127.0.0.1"]' });
  try {
    const network = { mode: "allow", allowlist: [`127.0.0.1:${port}`] };
    const agentId = await deployBenchAgent(service, "bench-egress", undefined, { network });
    const started = await service.post("/v1/executions", { agent_id: agentId, input: "go" });
    const { execution_id } = (await started.json()) as { execution_id: string };
    const password = await service.egressPasswordOf(execution_id);
    const proxy: Route = {
      port: service.egressPort,
      target: `127.0.0.1:${port}`,
      credentials: `Proxy-Authorization: Basic ${Buffer.from(`svc:${password}`).toString("base64")}\r\n`,
    };
    const direct: Route = { port, target: null, credentials: "" };
    const to = `127.0.0.1:${port}`;
    return [
      {
        name: "egress proxy, request over a kept connection, p50",
        unit: "ms",
        value: await requestMs(proxy, to),
        floor: await requestMs(direct, to),
        floorIs: "the same request straight to the server",
        goal: "<= floor + 1",
        note: "loopback, GET of 2 bytes",
      },
      {
        name: "egress proxy, new tunnel until its first answer, p50",
        unit: "ms",
        value: await tunnelMs(proxy),
        floor: await tunnelMs(direct),
        floorIs: "a connection straight to the server",
        goal: "<= floor + 1",
        note: "CONNECT, policy, address check, connection onward",
      },
      {
        name: "egress proxy, one tunnel's throughput",
        unit: "MB/s",
        value: await throughput(proxy),
        floor: await throughput(direct),
        floorIs: "the same bytes straight from the server",
        goal: "-",
        note: `${megabytes} MB down; server and client share the bench's one thread`,
      },
    ];
  } finally {
    await service.stop();
    server.close();
  }
}

/** How a client gets to the server: straight, or with a CONNECT first. */
interface Route {
  readonly port: number;
  readonly target: string | null;
  readonly credentials: string;
}

/** Answers requests; `flood` brings as much as the bench wants. */
function serve(socket: Socket): void {
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    if (!chunk.includes("flood")) return void socket.write(answer);
    let left = megabytes * 4;
    const pour = () => {
      while (left > 0) {
        left -= 1;
        if (!socket.write(piece)) return void socket.once("drain", pour);
      }
      socket.end();
    };
    pour();
  });
}

function open({ port }: Route): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => resolve(socket));
  });
}

/** Sends text and waits for an answer that ends so. */
function exchange(socket: Socket, text: string, end: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let heard = "";
    const onData = (chunk: Buffer) => {
      heard += chunk.toString("latin1");
      if (!heard.endsWith(end)) return;
      socket.off("data", onData);
      socket.off("close", onClose);
      resolve();
    };
    const onClose = () => reject(new Error(`closed after: ${heard}`));
    socket.on("data", onData);
    socket.once("close", onClose);
    socket.write(text);
  });
}

async function tunnelled(route: Route): Promise<Socket> {
  const socket = await open(route);
  const { target, credentials } = route;
  if (target !== null) await exchange(socket, `CONNECT ${target} HTTP/1.1\r\n${credentials}\r\n`, "\r\n\r\n");
  return socket;
}

async function requestMs(route: Route, host: string): Promise<number> {
  const socket = await open(route);
  const target = route.target === null ? "/" : `http://${host}/`;
  const text = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${route.credentials}\r\n`;
  const { samples } = await pumped(requests, 1, () => exchange(socket, text, "ok"));
  socket.destroy();
  return percentile(samples.slice(200), 0.5);
}

async function tunnelMs(route: Route): Promise<number> {
  const { samples } = await pumped(tunnels, 1, async () => {
    const socket = await tunnelled(route);
    await exchange(socket, "GET / HTTP/1.1\r\n\r\n", "ok");
    socket.destroy();
  });
  return percentile(samples.slice(50), 0.5);
}

async function throughput(route: Route): Promise<number> {
  const socket = await tunnelled(route);
  const started = performance.now();
  let bytes = 0;
  await new Promise<void>((done) => {
    socket.on("data", (chunk) => {
      bytes += chunk.length;
    });
    socket.once("end", done);
    socket.write("flood");
  });
  socket.destroy();
  return bytes / 1_000 / (performance.now() - started);
}
