/**
 * Whether a node's memory stays where it is while a million deliveries come in, some of them twice. Takes long, so it
 * runs only when asked for by name: `bun run bench stimuli-memory [--deliveries=1000000]`.
 */
import { openPostgres } from "../../src/store/postgres/pool.ts";
import { allStarted, type Delivery, deliver, deliveries, prepare, sourceOf } from "./deliveries.ts";
import { residentMiB, startBenchService } from "./service.ts";
import type { BenchStores } from "./stores.ts";
import { pumped, type Row } from "./table.ts";

const width = 64;
/** One in so many repeats the key of an earlier one. */
const repeatEvery = 10;
/** How far back that one lies. */
const repeatsAfter = 5_000;
/** A full backlog is waited for. */
const pauseMs = 250;

export async function benchStimuliMemory(stores: BenchStores): Promise<Row[]> {
  const name = "stimuli_memory";
  const count = wished();
  const service = await startBenchService(stores, name);
  const sql = openPostgres({ url: stores.databaseUrl, schema: name, poolSize: 4 });
  // Where the first one under a key is told to come later, its repeat may be the one that is accepted.
  const seen = { accepted: 0, repeats: 0, pauses: 0 };
  const early = Math.floor(count / 5);
  let atEarly = Number.NaN;
  let most = 0;

  async function send(index: number): Promise<void> {
    const isRepeat = index % repeatEvery === 0 && index > repeatsAfter;
    const place = isRepeat ? index - repeatsAfter + 1 : index;
    const delivery = deliveries[place % deliveries.length] as Delivery;
    const url = `${service.url}/v1/webhooks/${sourceOf(delivery.tenant, "received")}`;
    for (;;) {
      const { status, text } = await deliver(url, delivery, `key-${place}`);
      if (status === 202) seen.accepted++;
      else if (status === 409) seen.repeats++;
      else if (status === 503 && text.includes("backlog_full")) {
        seen.pauses++;
        await Bun.sleep(pauseMs);
        continue;
      } else throw new Error(`delivery ${index}: ${status} ${text}`);
      break;
    }
    if (index % 1000 === 0) most = Math.max(most, await residentMiB(service.pid));
    if (index === early) atEarly = await residentMiB(service.pid);
  }

  try {
    await prepare(service, sql);
    const { totalMs } = await pumped(count, width, send);
    const atEnd = await residentMiB(service.pid);
    await allStarted(sql, seen.accepted, 3_600_000);
    const { accepted, repeats, pauses } = seen;
    const keys = count - Math.floor((count - 1 - repeatsAfter) / repeatEvery);
    if (accepted !== keys) throw new Error(`${accepted} were accepted under ${keys} keys`);
    return [
      {
        name: `node memory after ${count.toLocaleString("en-US")} deliveries`,
        unit: "MiB",
        value: atEnd,
        floor: atEarly,
        floorIs: `the same node after ${early.toLocaleString("en-US")}`,
        goal: "<= 1.1x",
        note:
          `at most ${Math.round(most)} MiB; ${accepted} accepted and started, ${repeats} repeats refused, ` +
          `${pauses} told to come later, ${Math.round((count * 1000) / totalMs)} a second`,
      },
    ];
  } finally {
    await sql.end({ timeout: 2 });
    await service.stop();
  }
}

function wished(): number {
  const option = process.argv.find((word) => word.startsWith("--deliveries="));
  const count = Number(option?.slice(option.indexOf("=") + 1) ?? 1_000_000);
  if (!Number.isSafeInteger(count) || count < 20_000) throw new Error("--deliveries takes a number from 20000 on");
  return count;
}
