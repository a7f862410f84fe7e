/**
 * PostgreSQL and Redis for a machine that has neither: kept under the data directory, started by the first
 * node, joined by every further one, stopped by the last that leaves.
 *
 * A node that is killed does not take them along; the next node on the same data directory joins them.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type DaemonSpec, daemonLives, ensureDaemon, reviveDaemon, stopDaemon } from "./daemon.ts";
import { exclusively } from "./exclusive.ts";
import { countNodes, enterNode, leaveNode } from "./node-registry.ts";
import { postgresUrl, preparePostgres } from "./postgres-server.ts";
import { prepareRedis, redisUrl } from "./redis-server.ts";

export interface JoinOptions {
  readonly dataDir: string;
  /** Which stores are wanted; the other one is provided elsewhere. Default: both. */
  readonly want?: { readonly postgres: boolean; readonly redis: boolean };
  /** One line about what takes long. */
  readonly log?: (message: string) => void;
  /** False trades crash safety for speed; for tests. Counts for the node that starts them. Default: true. */
  readonly durable?: boolean;
  /** PostgreSQL connections for all nodes together. Counts for the node that starts them. Default: 200. */
  readonly maxConnections?: number;
}

export interface JoinedStores {
  /** Null when not wanted. */
  readonly databaseUrl: string | null;
  /** Null when not wanted. */
  readonly redisUrl: string | null;
  /** Whether this call started at least one of them. */
  readonly started: boolean;
  /** Ends this node's use; the last node to leave stops the stores and waits for that. Repeatable. */
  leave(): Promise<void>;
}

/** Another starter may be making the cluster, or installing Redis. */
const lockWaitMs = 180_000;
/** How soon the death of a store is noticed. */
const watchMs = 1000;

/**
 * Starts the stores of a data directory, or joins them where they run.
 * @throws with one clear sentence when a store can't be had
 */
export async function joinStores(options: JoinOptions): Promise<JoinedStores> {
  const { want = { postgres: true, redis: true }, log = () => {}, durable = true, maxConnections = 200 } = options;
  const dataDir = resolve(options.dataDir);
  const folder = join(dataDir, "stores");
  const nodes = join(dataDir, "nodes");
  const lock = join(folder, "lock");
  mkdirSync(folder, { recursive: true });
  return exclusively(lock, lockWaitMs, async () => {
    const password = keepPassword(join(folder, "password"));
    const [postgres, redis] = await bothOrNeither([
      want.postgres ? startPostgres(folder, password, durable, maxConnections) : null,
      want.redis ? startRedis(folder, password, durable, log) : null,
    ]);
    const running = [postgres, redis].filter((store) => store !== null);
    const entry = enterNode(nodes);
    let left: Promise<void> | null = null;
    const inUse = () => left === null;
    const watch = setInterval(() => revive(lock, running, inUse, log).catch((error) => log(String(error))), watchMs);
    watch.unref();
    const leave = () => {
      clearInterval(watch);
      return exclusively(lock, lockWaitMs, async () => {
        leaveNode(entry);
        if (countNodes(nodes) === 0) await Promise.all(running.map(({ spec }) => stopDaemon(spec)));
      });
    };
    return {
      databaseUrl: postgres === null ? null : postgresUrl(postgres.port, password),
      redisUrl: redis === null ? null : redisUrl(redis.port, password),
      started: running.some(({ started }) => started),
      leave: () => {
        left ??= leave();
        return left;
      },
    };
  });
}

/** Starts stores that died under their nodes again; those that live cost a glance. */
async function revive(
  lock: string,
  stores: readonly Store[],
  inUse: () => boolean,
  log: (message: string) => void,
): Promise<void> {
  if (stores.every(({ spec }) => daemonLives(spec))) return;
  await exclusively(lock, lockWaitMs, async () => {
    for (const { spec, port } of stores) {
      // The wait for the lock may have outlasted this node's stay, and the last to leave has stopped them.
      if (!inUse() || daemonLives(spec)) continue;
      log(`${spec.name} is gone; starting it again`);
      if (!(await reviveDaemon(spec, port))) log(`${spec.name} does not come up on port ${port}; see ${spec.logFile}`);
    }
  });
}

interface Store {
  readonly spec: DaemonSpec;
  readonly port: number;
  readonly started: boolean;
}

async function startPostgres(
  folder: string,
  password: string,
  durable: boolean,
  maxConnections: number,
): Promise<Store> {
  const spec = await preparePostgres({ folder, password, durable, maxConnections });
  return { spec, ...(await ensureDaemon(spec)) };
}

async function startRedis(
  folder: string,
  password: string,
  durable: boolean,
  log: (message: string) => void,
): Promise<Store> {
  const spec = await prepareRedis({ folder, password, durable, log });
  return { spec, ...(await ensureDaemon(spec)) };
}

type Pair = [Promise<Store> | null, Promise<Store> | null];

/** Waits for both; where one fails, the other is stopped. */
async function bothOrNeither(pair: Pair): Promise<[Store | null, Store | null]> {
  const results = await Promise.allSettled(pair);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) {
    for (const result of results) {
      if (result.status === "fulfilled" && result.value?.started) await stopDaemon(result.value.spec);
    }
    throw failed.reason;
  }
  return [await pair[0], await pair[1]];
}

/** One random password for both stores, readable by the owner of the data directory alone. */
function keepPassword(file: string): string {
  if (!existsSync(file)) {
    writeFileSync(`${file}.draft`, randomBytes(24).toString("hex"), { mode: 0o600 });
    renameSync(`${file}.draft`, file);
  }
  return readFileSync(file, "utf8");
}
