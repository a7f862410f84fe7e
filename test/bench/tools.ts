/** Lists of 500 tools: over HTTP, whole, searched and paged, and as a signed call. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { type BenchService, startBenchService } from "./service.ts";
import type { BenchStores } from "./stores.ts";
import { percentile, pumped, type Row } from "./table.ts";

const tools = 500;
const samples = 300;
const context = "svc-system-operator";
const path = "/v1/seal/tools";

export async function benchTools(stores: BenchStores): Promise<Row[]> {
  const service = await startBenchService(stores, "tools", [`--tools=${tools}`], { SVC_SEAL_MAX_AGE_SECONDS: "300" });
  try {
    const whole = `${path}?limit=500&q=bench.tool`;
    const { text, count } = await get(service, whole);
    if (count !== tools) throw new Error(`${count} tools are listed`);
    const floor = await sent(text);
    const rows: Row[] = [];
    for (const [name, query] of [
      ["GET /v1/seal/tools of 500, p50", whole],
      ["of 500 under a security context, p50", `${whole}&security_context=${context}`],
      ["searched, 50 of 500, p50", `${path}?limit=50&q=tool-1&source=builtin&security_context=${context}`],
    ] as const) {
      rows.push(row(name, await p50(() => get(service, query)), floor, `${text.length} bytes when whole`));
    }
    rows.push(await signedList(service, floor));
    return rows;
  } finally {
    await service.stop();
  }
}

const row = (name: string, value: number, floor: number, note: string): Row => ({
  name,
  unit: "ms",
  value,
  floor,
  floorIs: "bare Bun server that sends the whole answer as a text that it has",
  goal: "<= 5",
  note,
});

const p50 = async (ask: () => Promise<unknown>): Promise<number> =>
  percentile((await pumped(samples, 1, ask)).samples.slice(50), 0.5);

async function get(service: BenchService, query: string): Promise<{ text: string; count: number }> {
  const answer = await fetch(service.url + query, { headers: { Authorization: `Bearer ${service.token}` } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${query}: ${answer.status} ${text.slice(0, 300)}`);
  const [, count = "0"] = /"count":(\d+)/.exec(text.slice(-200)) ?? /"count":(\d+)/.exec(text) ?? [];
  return { text, count: Number(count) };
}

async function sent(text: string): Promise<number> {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(text) });
  const found = await p50(async () => (await fetch(server.url)).text());
  await server.stop(true);
  return found;
}

async function signedList(service: BenchService, floor: number): Promise<Row> {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const public_key = publicKey.export({ format: "der", type: "spki" }).toString("base64");
  const attested = await service.post("/v1/seal/attest", { public_key, security_context: context });
  const { security_token } = (await attested.json()) as { security_token?: string };
  if (security_token === undefined) throw new Error(`attest: ${attested.status}`);
  const value = await p50(async () => {
    const answer = await fetch(`${service.url}/v1/seal/invoke`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: listCall(privateKey, security_token),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`invoke: ${answer.status} ${text.slice(0, 300)}`);
  });
  return row("tools/list of 500 as a signed call, p50", value, floor, "with one committed row, its replay record");
}

function listCall(key: KeyObject, token: string): string {
  const payload = `{"id":"${crypto.randomUUID()}","jsonrpc":"2.0","method":"tools/list"}`;
  const head = `{"payload":${payload},"security_token":"${token}","timestamp":${Math.floor(Date.now() / 1000)}`;
  const signature = sign(null, Buffer.from(`${head}}`), key).toString("base64");
  return `${head},"protocol":"seal/v1","signature":"${signature}"}`;
}
