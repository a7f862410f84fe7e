/** Starts runtime nodes for tests on given stores. */
import { createRuntime, type NodeRuntime, type RuntimeOptions, type RuntimeWork } from "../../src/runtime/index.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { counter } from "./counter.ts";

export interface StoreAddress {
  readonly databaseUrl: string;
  readonly schema: string;
  readonly redisUrl: string;
  readonly prefix: string;
}

export interface TestNode {
  readonly runtime: NodeRuntime;
  readonly sql: Sql;
  stop(): Promise<void>;
}

const clock = { now: () => Date.now(), newId: () => Bun.randomUUIDv7() };

/** A node with the counter actor, short leases, and whatever else is asked for. */
export async function startTestNode(
  stores: StoreAddress,
  options: Partial<RuntimeOptions & RuntimeWork> = {},
): Promise<TestNode> {
  const sql = openPostgres({ url: stores.databaseUrl, schema: stores.schema, poolSize: 6 });
  const runtime = createRuntime({
    sql,
    redisUrl: stores.redisUrl,
    prefix: stores.prefix,
    host: "host-1",
    partitions: 8,
    leaseTtlMs: 1500,
    mailboxLimit: 100_000,
    residents: 10_000,
    idleMs: 60_000,
    orphanAfterMs: 3000,
    clock,
    random: Math.random,
    log: () => {},
    ...options,
  });
  await runtime.start({ actors: [counter], activities: [], projections: [], ...options });
  return {
    runtime,
    sql,
    async stop() {
      await runtime.drain();
      await sql.end({ timeout: 2 });
    },
  };
}
