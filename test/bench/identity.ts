/**
 * What it costs a node to know the caller, and what an entry of the audit log costs beside the start of an execution.
 * Processor time, not time on the wall: it is the node's room for other requests.
 */
import { Type } from "@sinclair/typebox";
import { sealEntries } from "../../src/features/audit/chain/sealing.ts";
import { auditedSystem, createAudit } from "../../src/features/audit/port.ts";
import { createApp } from "../../src/http/app.ts";
import { createLogger } from "../../src/http/operations/log.ts";
import { definePublicRoute, defineRoute } from "../../src/http/route.ts";
import { keyDigest } from "../../src/identity/callers/api-keys.ts";
import { createDevelopmentIssuer, defaultDevelopmentClients } from "../../src/identity/tokens/development-issuer.ts";
import { openTestIdentity } from "../http/open-app.ts";
import { cpuMs, postgresCpuMs } from "./nodes.ts";
import { deployBenchAgent, startBenchService } from "./service.ts";
import { type BenchStores, durability } from "./stores.ts";
import { pumped, type Row } from "./table.ts";

const requests = 4_000;
const rounds = 9;
const publicUrl = "http://bench.test";

export async function benchIdentity(stores: BenchStores): Promise<Row[]> {
  return [...(await callers(stores)), ...(await entries(stores))];
}

async function callers({ sql }: BenchStores): Promise<Row[]> {
  const issuer = await createDevelopmentIssuer({
    sql,
    publicUrl,
    algorithm: "RS256",
    clients: defaultDevelopmentClients,
    password: "dev",
    now: Date.now,
  });
  const { authenticator } = openTestIdentity({ sql, development: issuer });
  const shared = { method: "GET", summary: "Nothing", responses: { 200: Type.Any() } } as const;
  const app = createApp({
    routes: [
      definePublicRoute({ ...shared, path: "/bench/open", handler: () => ({ ok: true }) }),
      defineRoute({ ...shared, path: "/bench/closed", scope: "agent:list", handler: () => ({ ok: true }) }),
    ],
    authenticator,
    logger: createLogger("warn", { write: () => {} }),
    metrics: null,
    corsOrigins: [],
  });
  async function tokenOf(username: string): Promise<string> {
    const fields = { grant_type: "password", username, password: "dev", expires_in: "3600" };
    const { access_token } = await issuer.token("tenant-bench", { fields, basic: null });
    return access_token;
  }
  const token = await tokenOf("ann");
  // Each is checked once: its signature costs what it costs.
  const fresh = await Promise.all(Array.from({ length: requests * rounds }, () => tokenOf("ann")));
  const ask = async (path: string, bearer: string) => {
    const answer = await app.handle(new Request(publicUrl + path, { headers: { Authorization: `Bearer ${bearer}` } }));
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  await ask("/bench/closed", token);
  const key = `svc_${"k".repeat(40)}`;
  await sql`
    insert into api_keys (id, tenant, realm, user_id, kind, name, scopes, hash, prefix, last4, created_at)
    select gen_random_uuid(), 'bench', realm, user_id, 'tenant_user', 'bench', array['agent:list'], ${keyDigest(key)},
      'svc_kkkk', 'kkkk', now()
    from tenant_members where tenant = 'bench'`;
  let next = 0;
  // The lowest of several rounds by turns: what else the machine does adds to a round, and takes nothing away.
  const lowest = {
    open: Number.POSITIVE_INFINITY,
    token: Number.POSITIVE_INFINITY,
    key: Number.POSITIVE_INFINITY,
    fresh: Number.POSITIVE_INFINITY,
  };
  for (let round = 0; round < rounds; round++) {
    lowest.open = Math.min(lowest.open, await cpuOf(() => ask("/bench/open", token)));
    lowest.token = Math.min(lowest.token, await cpuOf(() => ask("/bench/closed", token)));
    lowest.key = Math.min(lowest.key, await cpuOf(() => ask("/bench/closed", key)));
    lowest.fresh = Math.min(lowest.fresh, await cpuOf(() => ask("/bench/closed", fresh[next++] ?? token)));
  }
  const row = (name: string, value: number, goal: string, note: string): Row => {
    const floorIs = "the same request to a public route";
    return {
      name,
      unit: "us",
      value,
      floor: lowest.open,
      floorIs,
      goal,
      note: `CPU of the node, without the socket; ${note}`,
    };
  };
  return [
    row("request with a token seen before", lowest.token, "floor + 40", "tenant user, tenant and membership looked up"),
    row("request with an API key", lowest.key, "floor + 40", "remembered for 3 s, then one query"),
    row("request with a new token", lowest.fresh, "floor + 250", "RS256, the realm's keys at hand"),
  ];
}

/** Microseconds of this process for one request. */
async function cpuOf(request: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < requests; count++) await request();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

const starts = 4_000;

async function entries(stores: BenchStores): Promise<Row[]> {
  const { sql } = stores;
  const audit = createAudit({ now: Date.now, newId: () => Bun.randomUUIDv7() });
  const by = auditedSystem("bench");
  const use = async (): Promise<void> => {
    const id = Bun.randomUUIDv7();
    const target = { type: "secret", id: "database/password" };
    await audit.once(sql, id, by, { tenant: "bench", action: "secret.used", target, details: { execution_id: id } });
  };
  const both = async (work: () => Promise<unknown>) => {
    const ours = process.cpuUsage();
    const theirs = await postgresCpuMs(sql);
    await work();
    const { user, system } = process.cpuUsage(ours);
    return user + system + ((await postgresCpuMs(sql)) - theirs) * 1000;
  };
  await pumped(500, 32, use);
  await sealEntries({ sql, now: Date.now });
  const told = (await both(() => pumped(starts, 32, use))) / starts;
  const sealed = (await both(() => sealEntries({ sql, now: Date.now }))) / starts;
  const service = await startBenchService(stores, "audit");
  try {
    const agentId = await deployBenchAgent(service, "bench-audit");
    const start = async () => {
      const answer = await service.post("/v1/executions", { agent_id: agentId, input: "x".repeat(200) });
      if (answer.status !== 200) throw new Error(`start: ${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    };
    await pumped(2_000, 32, start);
    const [node, database] = [cpuMs(service.pid), await postgresCpuMs(sql)];
    await pumped(starts, 32, start);
    const floor = ((cpuMs(service.pid) - node + (await postgresCpuMs(sql)) - database) * 1000) / starts;
    const row = (name: string, value: number, goal: string, note: string): Row => {
      const floorIs = "the start of an execution, which has no entry";
      return {
        name,
        unit: "us",
        value,
        floor,
        floorIs,
        goal,
        note: `CPU of node and PostgreSQL; ${note}, ${durability}`,
      };
    };
    return [
      row(
        "an entry of the audit log, of 32 starts at once",
        told,
        "a start without has none",
        "that an execution used a secret",
      ),
      row("an entry's seal", sealed, "-", "a moment later, beside all requests"),
    ];
  } finally {
    await service.stop();
  }
}
