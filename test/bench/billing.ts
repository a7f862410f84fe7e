/** Events of the payment provider: proven, stored, answered. */
import { createHmac } from "node:crypto";
import { inBatches } from "../../src/store/batches.ts";
import { openPostgres } from "../../src/store/postgres/pool.ts";
import { cpuEach, cpuTimes } from "./cpu.ts";
import { startBenchService } from "./service.ts";
import { type BenchStores, durability } from "./stores.ts";
import { pumped, type Row } from "./table.ts";

const events = 20_000;
const width = 64;
const secret = "whsec_bench";

interface Delivery {
  readonly id: string;
  readonly body: string;
  readonly header: string;
}

/** Of the size that the provider's have. */
function delivery(index: number): Delivery {
  const [id, at] = [`evt_${index}_${crypto.randomUUID()}`, Math.floor(Date.now() / 1000)];
  const object = { id: `in_${index}`, object: "invoice", customer: `cus_${index}`, lines: "x".repeat(3_000) };
  const body = JSON.stringify({ id, type: "invoice.finalized", created: at, data: { object } });
  const digest = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
  return { id, body, header: `t=${at},v1=${digest}` };
}

export async function benchBilling(stores: BenchStores): Promise<Row[]> {
  const service = await startBenchService(stores, "billing", [], {
    PAYMENT_SECRET_KEY: "sk_bench",
    PAYMENT_API_BASE: "http://127.0.0.1:9",
    PAYMENT_WEBHOOK_SECRET: secret,
  });
  try {
    const deliveries = Array.from({ length: events + 2_000 }, (_, at) => delivery(at));
    const send = (url: string) => async (at: number) => {
      const { body, header } = deliveries[at] as Delivery;
      const answer = await fetch(url, { method: "POST", headers: { "Stripe-Signature": header }, body });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`delivery: ${answer.status} ${text.slice(0, 300)}`);
    };
    const deliver = send(`${service.url}/v1/webhooks/stripe`);
    await pumped(2_000, width, (at) => deliver(events + at));
    const before = cpuTimes(service.pid, stores.dataDir);
    const { totalMs } = await pumped(events, width, deliver);
    const used = cpuEach(before, cpuTimes(service.pid, stores.dataDir), events);
    return [
      {
        name: `events of the payment provider stored, c=${width}`,
        unit: "events/s",
        value: (events / totalMs) * 1000,
        floor: await floor(stores, send),
        floorIs: "bare Bun server, one HMAC and one row for each, committed in groups",
        goal: ">= 1500",
        note: `3 kB each, ${durability}; ${used}`,
      },
    ];
  } finally {
    await service.stop();
  }
}

async function floor(stores: BenchStores, send: (url: string) => (at: number) => Promise<void>): Promise<number> {
  const sql = openPostgres({ url: stores.databaseUrl, schema: "public", poolSize: 2 });
  await sql`create table bench_billing_floor (event_id text primary key, body text not null)`;
  const store = inBatches(
    async (rows: readonly { id: string; body: string }[]) => {
      await sql`
        insert into bench_billing_floor select id, body
        from json_to_recordset(${JSON.stringify(rows)}::text::json) as row(id text, body text) on conflict do nothing`;
      return rows.map(() => true);
    },
    { rows: 200, statements: 2 },
  );
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = await request.text();
      const at = /t=(\d+)/.exec(request.headers.get("stripe-signature") ?? "")?.[1] ?? "";
      createHmac("sha256", secret).update(`${at}.${body}`).digest();
      await store({ id: (JSON.parse(body) as { id: string }).id, body });
      return Response.json({ received: true });
    },
  });
  try {
    const { totalMs } = await pumped(events, width, send(server.url.href));
    return (events / totalMs) * 1000;
  } finally {
    await server.stop(true);
    await sql`drop table bench_billing_floor`;
    await sql.end();
  }
}
