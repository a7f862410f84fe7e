/** Starts runtime nodes for tests on given stores. */
import { Type } from "@sinclair/typebox";
import type { AnyActorDefinition } from "../../../actors/kernel/actor.ts";
import type { LogDefinition } from "../../../actors/kernel/effect.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { auditFacts } from "../../../src/features/audit/service.ts";
import {
  type Address,
  type AskOptions,
  createRuntime,
  type LogEntry,
  type NodeRuntime,
  type RuntimeOptions,
  type RuntimeWork,
  settlePartitions,
  type TailListener,
} from "../../../src/runtime/index.ts";
import { type Reading, reading } from "../../../src/runtime/reads/reading.ts";
import { openDatabase } from "../../../src/store/postgres/database.ts";
import { inspectDatabase } from "../../../src/store/postgres/facts.ts";
import { openPostgres, type Sql, usualConnectMs, usualStatementMs } from "../../../src/store/postgres/pool.ts";
import type { RedisServers } from "../../../src/store/redis/connections.ts";
import { counter } from "./counter.ts";

export interface StoreAddress {
  readonly databaseUrl: string;
  readonly schema: string;
  readonly redisUrl: string;
  /** Instead of the server at `redisUrl`. */
  readonly redisServers?: RedisServers;
  readonly prefix: string;
  /** Behind a pooler the schema is that of the role. */
  readonly pooled?: boolean;
  /** The pool is watched, as that of a whole node is, and follows the host that accepts writes. */
  readonly watched?: boolean;
  /** Connections of the node's pool; 6 when absent. */
  readonly poolSize?: number;
}

/** Actors by address and messages by name, unchecked: tests also send what no definition allows. */
interface ByAddress extends Pick<Reading, "read" | "readMany" | "readListed" | "logLength"> {
  ask(to: Address, type: string, body: Json, options?: AskOptions): Promise<Json>;
  tell(to: Address, type: string, body: Json): Promise<void>;
  tellCommitted(to: Address, type: string, body: Json): Promise<void>;
  log(at: Address, log: string, after: number, limit: number): Promise<readonly LogEntry[]>;
  tail(at: Address, after: number, listener: TailListener): () => void;
}

interface ByName {
  ask(type: string, body: Json, options?: AskOptions): Promise<Json>;
  tell(type: string, body: Json): Promise<void>;
  tellCommitted(type: string, body: Json): Promise<void>;
  log(log: LogDefinition, after: number, limit: number): Promise<readonly LogEntry[]>;
  tail(after: number, listener: TailListener): () => void;
}

export type TestRuntime = NodeRuntime & ByAddress;

function byAddress(runtime: NodeRuntime, sql: Sql): ByAddress {
  const actorAt = ({ kind, tenant, key, version }: Address) => {
    const unversioned = { kind, messages: {}, state: Type.Unknown(), receive: {} };
    const definition: AnyActorDefinition = version === undefined ? unversioned : { ...unversioned, version };
    // The definition names no message, so the compiler would admit none.
    return runtime.of(definition).at(tenant, key) as unknown as ByName;
  };
  const { read, readMany, readListed, logLength } = reading(sql);
  return {
    read,
    readMany,
    readListed,
    logLength,
    ask: (to, type, body, options) => actorAt(to).ask(type, body, options),
    tell: (to, type, body) => actorAt(to).tell(type, body),
    tellCommitted: (to, type, body) => actorAt(to).tellCommitted(type, body),
    log: (at, name, after, limit) => actorAt(at).log({ name, entry: Type.Unknown() }, after, limit),
    tail: (at, after, listener) => actorAt(at).tail(after, listener),
  };
}

export interface TestNode {
  readonly runtime: TestRuntime;
  readonly sql: Sql;
  stop(): Promise<void>;
}

const clock = { now: () => Date.now(), newId: () => Bun.randomUUIDv7() };

/** A node with the counter actor, short leases, and what else is asked for. */
export async function startTestNode(
  stores: StoreAddress,
  options: Partial<RuntimeOptions & RuntimeWork> = {},
): Promise<TestNode> {
  const { sql, ...database } = await open(stores);
  const { generation } = await settlePartitions(sql, options.partitions ?? 8);
  const runtime = createRuntime({
    sql,
    generation,
    redisServers: stores.redisServers ?? stores.redisUrl,
    prefix: stores.prefix,
    host: "host-1",
    partitions: 8,
    leaseTtlMs: 1500,
    mailboxLimit: 100_000,
    cachedActors: 10_000,
    actorIdleMs: 60_000,
    orphanAfterMs: 3000,
    clock,
    random: Math.random,
    log: () => {},
    ...(database.beside === null ? {} : { beside: database.beside }),
    ...options,
  });
  await runtime.start({
    actors: [counter],
    activities: [],
    projections: [],
    facts: [auditFacts({ newId: clock.newId })],
    ...options,
  });
  return {
    runtime: { ...runtime, ...byAddress(runtime, sql) },
    sql,
    async stop() {
      await runtime.drain();
      await database.close();
    },
  };
}

async function open(stores: StoreAddress): Promise<{ sql: Sql; beside: Sql | null; close(): Promise<void> }> {
  const { databaseUrl: url, schema, pooled = false, watched = false, poolSize = 6 } = stores;
  if (!watched) {
    const sql = openPostgres({ url, schema, poolSize, pooled });
    return { sql, beside: null, close: () => sql.end({ timeout: 2 }) };
  }
  return openDatabase({
    url,
    facts: await inspectDatabase(url),
    schema,
    poolSize,
    connectMs: usualConnectMs,
    statementMs: usualStatementMs,
    prepared: "auto",
    report: () => {},
  });
}
