/**
 * How many executions a tenant has under way, held to its quota across all nodes.
 *
 * A start reserves a place in Redis before it is stored, so that parallel starts never exceed the limit. No caller has to
 * give a place back: the records say which executions have ended, and whenever no place is left (and now and then
 * besides) the reservations are compared with them. What a crash left reserved without a record goes after a grace;
 * what Redis lost comes back.
 */
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { Quota } from "../../../../actors/policy/quota.ts";
import { openRedis, type RedisClient, type RedisServers, replyInTime } from "../../../store/redis/connections.ts";
import { scriptCommand } from "../../../store/redis/script.ts";
import type { ExecutionRecords } from "../records.ts";

export interface ConcurrencyOptions {
  readonly redisServers: RedisServers;
  /** Of every key. */
  readonly prefix: string;
  readonly records: Pick<ExecutionRecords, "underWay">;
  /** How long a reservation may be without a record; 60 000 when absent. A start is given up long before. */
  readonly graceMs?: number;
  /** Reservations in use are compared with the records at least this often; 20 000 when absent. */
  readonly compareEveryMs?: number;
}

export interface Concurrency {
  /**
   * Reserves a place for an execution; the same execution again keeps its one.
   * @param exempt counted, never refused
   * @throws Problem 429 `quota_exceeded`, 503 `limiter_unavailable`
   */
  reserve(tenant: string, executionId: string, quota: Quota, exempt: boolean): Promise<void>;
  /** Gives a place back at once: the execution was never stored, or is erased. Never throws. */
  release(tenant: string, executionId: string): Promise<void>;
  /**
   * Redis may have lost reservations. Those with a record are counted again by the next start of their tenant; those of
   * starts under way have none yet, so that for a while every start compares.
   */
  redisLost(): void;
  close(): Promise<void>;
}

/** A set without reservations for this long is built again from the records. */
const keptMs = 24 * 3600 * 1000;
/** After a loss, for so long, reservations in use are compared this often. */
const watchfulMs = 15_000;
const watchfulEveryMs = 500;

/** Instead of a limit: counted, never refused. */
const unbounded = -1;

type Reply = readonly [outcome: number, used: number, age: number];

export function openConcurrency(options: ConcurrencyOptions): Concurrency {
  const redis = openRedis(options.redisServers);
  const reconciliation = new Reconciliation(redis, options);
  const reserveExecution = scriptCommand(redis, "reserve-execution");
  const { compareEveryMs = 20_000 } = options;
  let watchfulUntil = 0;

  async function reserve(tenant: string, executionId: string, limit: number): Promise<Reply> {
    const key = keyOf(options.prefix, tenant);
    const ask = () => replyInTime(reserveExecution([key], [executionId, limit]) as Promise<Reply>, unavailable);
    let reply = await ask();
    if (reply[0] === 1) {
      const isDue = reply[2] > (performance.now() < watchfulUntil ? watchfulEveryMs : compareEveryMs);
      if (isDue) void reconciliation.run(tenant).catch(() => {});
      return reply;
    }
    await reconciliation.run(tenant);
    reply = await ask();
    return reply;
  }

  return {
    async reserve(tenant, executionId, { limit, tier }, exempt) {
      // The platform's own tenant is never bounded; others may be bounded later, and what they have under way counts then.
      if (limit === null && tier === "system") return;
      const [outcome, used] = await reserve(tenant, executionId, exempt || limit === null ? unbounded : limit);
      if (outcome === 1) return;
      // Lost again at once: Redis is being emptied or is failing over.
      if (outcome === -1) throw unavailable();
      throw new Problem(
        "quota_exceeded",
        `The tenant has ${used} executions under way, of at most ${limit}`,
        { quota: "max_concurrent_executions", limit, used, tier },
        { "Retry-After": "5" },
        429,
      );
    },
    async release(tenant, executionId) {
      await replyInTime(redis.zrem(keyOf(options.prefix, tenant), executionId), unavailable).catch(() => {});
    },
    redisLost() {
      watchfulUntil = performance.now() + watchfulMs;
    },
    async close() {
      redis.disconnect();
    },
  };
}

/** Comparisons of a tenant's reservations with the records; each caller gets one that began after it asked. */
class Reconciliation {
  readonly #running = new Map<string, Promise<void>>();
  readonly #next = new Map<string, Promise<void>>();
  readonly #compareExecutions: ReturnType<typeof scriptCommand>;
  constructor(
    private readonly redis: RedisClient,
    private readonly options: ConcurrencyOptions,
  ) {
    this.#compareExecutions = scriptCommand(redis, "compare-executions");
  }

  run(tenant: string): Promise<void> {
    const waiting = this.#next.get(tenant);
    if (waiting !== undefined) return waiting;
    const before = this.#running.get(tenant) ?? Promise.resolve();
    const next = before
      .catch(() => {})
      .then(() => {
        this.#next.delete(tenant);
        const work = this.#compare(tenant).finally(() => {
          if (this.#running.get(tenant) === work) this.#running.delete(tenant);
        });
        this.#running.set(tenant, work);
        return work;
      });
    this.#next.set(tenant, next);
    return next;
  }

  async #compare(tenant: string): Promise<void> {
    const { records, prefix, graceMs = 60_000 } = this.options;
    const key = keyOf(prefix, tenant);
    const reserved = (await replyInTime(this.redis.zrange(key, "0", "-1"), unavailable)).filter(
      (member) => member !== "",
    );
    const rows = await records.underWay(tenant, reserved);
    const known = new Set(rows.map(({ execution_id }) => execution_id));
    const ids = (live: boolean) =>
      JSON.stringify(rows.filter((row) => row.live === live).map((row) => row.execution_id));
    const unknown = JSON.stringify(reserved.filter((id) => !known.has(id)));
    await replyInTime(this.#compareExecutions([key], [graceMs, keptMs, ids(true), ids(false), unknown]), unavailable);
  }
}

const keyOf = (prefix: string, tenant: string): string => `${prefix}:under-way:{${tenant}}`;

const unavailable = () =>
  new Problem("limiter_unavailable", "The tenant's quota cannot be checked now", {}, { "Retry-After": "1" });
