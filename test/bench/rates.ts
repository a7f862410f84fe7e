/** What the rates of a start of an execution cost: every bucket of its user and its tenant, tested and debited. */
import { demands } from "../../actors/policy/rates/limits.ts";
import { openLimiter, type RateUse } from "../../src/features/limits/limiter.ts";
import { createStandings } from "../../src/features/limits/standings.ts";
import { openRedis } from "../../src/store/redis/connections.ts";
import { setRates } from "../harness/rates.ts";
import type { BenchStores } from "./stores.ts";
import { percentile, pumped, type Row } from "./table.ts";

const tenant = "bench-rates";
const starts = 20_000;
const atOnce = 32;

export async function benchRates({ sql, redisUrl }: BenchStores): Promise<Row[]> {
  // Limits that are tested and never reached.
  await setRates(sql, tenant, "agent_execution", 1_000_000_000);
  const terms = async () => ({ tier: "enterprise" as const });
  const standings = createStandings({ sql, terms, notices: null, now: Date.now });
  const limiter = openLimiter({ redisServers: redisUrl, prefix: tenant, now: Date.now, standings, report: () => {} });
  const redis = openRedis(redisUrl);
  try {
    // Starts of many people, who share the tenant's buckets.
    const uses = Array.from({ length: 256 }, (_, index): RateUse => {
      const user = { realm: `tenant-${tenant}`, userId: `user-${index}` };
      return { tenant, user, demands: [demands.of("agent_execution")] };
    });
    const debit = (index: number) => limiter.debit(uses[index % uses.length] as RateUse);
    const ping = () => redis.ping();
    for (const work of [debit, ping]) await pumped(5000, atOnce, work);
    const among = await measured(() => pumped(starts, atOnce, debit));
    const floorAmong = await measured(() => pumped(starts, atOnce, ping));
    const before = await commands();
    const alone = await pumped(2000, 1, debit);
    const perStart = ((await commands()) - before) / 2000;
    const floorAlone = await pumped(2000, 1, ping);
    const note = "10 buckets of two scopes, 256 users of one tenant, limits by overrides";
    const row = (name: string, unit: string, value: number, floor: number, goal: string): Row => ({
      name,
      unit,
      value,
      floor,
      floorIs: "as many PINGs in the same way",
      goal,
      note,
    });
    return [
      row("rates of a start, 32 at once", "µs", among.wallMicros, floorAmong.wallMicros, "<= 60"),
      row("rates of a start, CPU of the node", "µs", among.cpuMicros, floorAmong.cpuMicros, "<= 60"),
      row(
        "rates of a start alone, p50",
        "µs",
        1000 * percentile(alone.samples, 0.5),
        1000 * percentile(floorAlone.samples, 0.5),
        "one round trip",
      ),
      row("commands to Redis of a start alone", "", perStart, 1, "1"),
    ];
  } finally {
    limiter.close();
    redis.disconnect();
  }

  /** Scripts that the server was asked to run so far. */
  async function commands(): Promise<number> {
    const info = await redis.info("commandstats");
    return [...info.matchAll(/cmdstat_evalsha?:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
  }
}

/** Microseconds of a start, by the clock and of this process's CPU. */
async function measured(work: () => Promise<{ readonly totalMs: number }>) {
  const before = process.cpuUsage();
  const { totalMs } = await work();
  const { user, system } = process.cpuUsage(before);
  return { wallMicros: (1000 * totalMs) / starts, cpuMicros: (user + system) / starts };
}
