/** Signed calls of a tool that does nothing, by many sessions at once. */
import { createHash, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { calculateJwkThumbprint, SignJWT } from "jose";
import { systemTenant } from "../../actors/identity/identity.ts";
import { inBatches } from "../../src/store/batches.ts";
import { openPostgres } from "../../src/store/postgres/pool.ts";
import { cpuEach, cpuTimes } from "./cpu.ts";
import { startBenchService } from "./service.ts";
import { type BenchStores, durability } from "./stores.ts";
import { pumped, type Row } from "./table.ts";

const sessions = 200;
const calls = 12_000;
const width = 32;

export async function benchSeal(stores: BenchStores): Promise<Row[]> {
  const signing = generateKeyPairSync("ed25519");
  const pem = signing.privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  const service = await startBenchService(stores, "seal", [], {
    SVC_SEAL_SIGNING_KEY: pem,
    // All envelopes are signed before the first is sent.
    SVC_SEAL_MAX_AGE_SECONDS: "300",
  });
  try {
    const kid = await calculateJwkThumbprint(signing.publicKey.export({ format: "jwk" }) as { kty: string });
    const agent = generateKeyPairSync("ed25519");
    const tokens = await openSessions(stores, { kid, key: signing.privateKey }, agent.publicKey);
    const envelopes = Array.from({ length: calls + 2_000 }, (_, at) =>
      envelope(agent.privateKey, tokens[at % sessions] ?? ""),
    );
    const send = async (at: number): Promise<void> => {
      const answer = await fetch(`${service.url}/v1/seal/invoke`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: envelopes[at] ?? "",
      });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`invoke: ${answer.status} ${text.slice(0, 300)}`);
    };
    await pumped(2_000, width, (at) => send(calls + at));
    const before = cpuTimes(service.pid, stores.dataDir);
    const { totalMs } = await pumped(calls, width, send);
    const used = cpuEach(before, cpuTimes(service.pid, stores.dataDir), calls);
    return [
      {
        name: `signed calls of a tool that does nothing, c=${width}`,
        unit: "calls/s",
        value: (calls / totalMs) * 1000,
        floor: await floor(stores, agent),
        floorIs: "bare Bun server, native Ed25519 verify and one row for each call, committed in groups",
        goal: ">= 4000",
        note: `${sessions} sessions, session, execution and replay checked and the call on record, ${durability}; ${used}`,
      },
    ];
  } finally {
    await service.stop();
  }
}

/** Sessions as attestations would leave them. @returns their tokens */
async function openSessions(
  { databaseUrl }: BenchStores,
  { kid, key }: { readonly kid: string; readonly key: KeyObject },
  agentKey: KeyObject,
): Promise<string[]> {
  const sql = openPostgres({ url: databaseUrl, schema: "seal", poolSize: 2 });
  const raw = Buffer.from(agentKey.export({ format: "jwk" }).x ?? "", "base64url");
  const tokens: string[] = [];
  for (let at = 0; at < sessions; at++) {
    const [id, execution, agent] = [Bun.randomUUIDv7(), crypto.randomUUID(), crypto.randomUUID()];
    const token = await new SignJWT({ exec_id: execution, tenant_id: systemTenant })
      .setProtectedHeader({ typ: "JWT", alg: "EdDSA", kid })
      .setIssuer("svc-orchestrator")
      .setAudience("svc-agents")
      .setSubject(agent)
      .setJti(id)
      .setIssuedAt()
      .setExpirationTime("1h")
      .sign(key);
    const digest = createHash("sha256").update(token).digest();
    await sql`
      insert into seal_sessions (id, tenant, execution_id, agent_id, detached, principal, security_context, public_key,
        token, attempts_left, expires_at)
      values (${id}, ${systemTenant}, ${execution}, ${agent}, true, ${`svc-system/bench-${at}`}, 'svc-agent-runtime',
        ${raw}, ${digest}, 100, now() + interval '1 hour')`;
    tokens.push(token);
  }
  await sql.end({ timeout: 2 });
  return tokens;
}

/** Made as the bytes are signed: members in order, nothing blank. */
function envelope(key: KeyObject, token: string): string {
  const id = crypto.randomUUID();
  const payload = `{"id":"${id}","jsonrpc":"2.0","method":"tools/call","params":{"arguments":{},"name":"bench.nothing"}}`;
  const head = `{"payload":${payload},"security_token":"${token}","timestamp":${Math.floor(Date.now() / 1000)}`;
  const signature = sign(null, Buffer.from(`${head}}`), key).toString("base64");
  return `${head},"protocol":"seal/v1","signature":"${signature}"}`;
}

async function floor({ sql }: BenchStores, { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }) {
  await sql`create table if not exists bench_seal (id uuid primary key, body text)`;
  const insert = inBatches(
    async (bodies: readonly string[]): Promise<readonly null[]> => {
      const rows = bodies.map((body) => ({ id: Bun.randomUUIDv7(), body }));
      await sql`insert into bench_seal ${sql(rows, "id", "body")}`;
      return bodies.map(() => null);
    },
    { rows: 128, statements: 2 },
  );
  const text = "x".repeat(700);
  const signature = sign(null, Buffer.from(text), privateKey);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = await request.text();
      if (!verify(null, Buffer.from(body), publicKey, signature)) throw new Error("the signature is none");
      await insert(body);
      return new Response(body);
    },
  });
  const { totalMs } = await pumped(calls, width, async () => {
    await (await fetch(server.url, { method: "POST", body: text })).text();
  });
  await server.stop(true);
  return (calls / totalMs) * 1000;
}
