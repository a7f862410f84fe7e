/** Queues of features on BullMQ, beside the runtime's own. */
import type { ConnectionOptions, Job, Queue as JobQueue, Worker as JobWorker } from "bullmq";
import { waitAtMost } from "../lib/timers.ts";
import { DelayedError, Queue, queueNow, Worker } from "./bullmq.ts";
import { openQueueRedis, type RedisServers, slotGroupsOf } from "./redis/connections.ts";

/** A queue as the feature that has its jobs done declares it. */
export interface QueueDefinition<T> {
  readonly name: string;
  /** Never there at run time: it carries the type of the jobs. */
  readonly job?: T;
}

/** Declares a queue and what its jobs hold. @param name may not contain `:` */
export function defineQueue<T>(name: string): QueueDefinition<T> {
  return { name };
}

export interface QueueOptions {
  readonly redisServers: RedisServers;
  /** Of every key of the service. */
  readonly prefix: string;
}

/**
 * Thrown by a job that has come too early: nodes know PostgreSQL's time within some milliseconds only, and those of the
 * former version go by their machines'. It is put back and taken up later. Not for the jobs of a scheduler, which would plan its next one twice.
 */
export class NotYet extends Error {
  override readonly name = "NotYet";
  /** @param ms how much too early */
  constructor(readonly ms: number) {
    super(`${ms} ms too early`);
  }
}

export interface OpenQueue<T> {
  readonly queue: JobQueue<T>;
  /**
   * Has jobs done on this node. A rejection makes BullMQ try again later.
   * @param lockMs how long a node that says nothing of a job keeps it; after it another one takes it up
   */
  work(concurrency: number, run: (data: T, due: number) => Promise<void>, lockMs?: number): void;
  /** Stops taking jobs, waits a while for those under way, closes the connections. */
  close(): Promise<void>;
}

const closeTimeoutMs = 3000;
const usualLockMs = 30_000;
/**
 * How long an idle worker waits before it looks for jobs unasked, s. Each addition wakes one; this is for a job whose
 * worker was woken and died.
 */
const drainDelay = 10;
/** Nodes that may die over a job before it is given up. */
const maxStalledCount = 10;
/** Failed jobs that are kept for an operator to look at. */
const keptFailures = 1000;

export function openQueue<T>({ name }: QueueDefinition<T>, { redisServers, prefix }: QueueOptions): OpenQueue<T> {
  const commands = openQueueRedis(redisServers);
  const blocking = openQueueRedis(redisServers);
  const shared = { prefix: queuePrefix(prefix, slotGroupsOf(commands)) };
  const queue = new Queue<T>(name, {
    ...shared,
    connection: commands as ConnectionOptions,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: keptFailures },
  });
  queue.on("error", () => {});
  let worker: JobWorker<T> | null = null;
  return {
    // BullMQ derives the type of its jobs by conditional types, which a type parameter leaves open.
    queue: queue as unknown as JobQueue<T>,
    work(concurrency, run, lockMs = usualLockMs) {
      const attempt = async (job: Job<T>, token?: string) => {
        try {
          await run(job.data as T, dueAt(job));
        } catch (error) {
          if (!(error instanceof NotYet)) throw error;
          await job.moveToDelayed(queueNow() + error.ms, token);
          throw new DelayedError();
        }
      };
      worker = new Worker<T>(name, attempt, {
        ...shared,
        connection: blocking as ConnectionOptions,
        concurrency,
        drainDelay,
        maxStalledCount,
        lockDuration: lockMs,
        stalledInterval: lockMs,
      });
      worker.on("error", () => {});
    },
    async close() {
      // Redis may be away, and a job may take long: another node takes it up again.
      await waitAtMost(closeTimeoutMs, Promise.all([worker?.close(), queue.close()]));
      commands.disconnect();
      blocking.disconnect();
    },
  };
}

/**
 * Starts BullMQ's keys: scripts touch many keys of a queue, so that on a Cluster all of them share a slot.
 * @param prefix of every key of the service
 */
function queuePrefix(prefix: string, slotGroups: number): string {
  return slotGroups === 1 ? `${prefix}:bull` : `{${prefix}}:bull`;
}

/** When a job was to run, Unix ms. Those of a job scheduler have it in their id, `repeat:<scheduler>:<ms>`. */
function dueAt({ id, timestamp, opts }: Pick<Job, "id" | "timestamp" | "opts">): number {
  const [, scheduled] = /^repeat:.*:(\d+)$/.exec(id ?? "") ?? [];
  return scheduled === undefined ? timestamp + (opts.delay ?? 0) : Number(scheduled);
}

/** Jobs for queues that other nodes work on, over one connection. */
export interface OpenQueues<T> {
  add(
    name: string,
    jobs: readonly { readonly name: string; readonly data: T; readonly opts: { readonly jobId: string } }[],
  ): Promise<void>;
  /** Takes away a queue that none works on any more. */
  obliterate(name: string): Promise<void>;
  close(): Promise<void>;
}

/** Names are as those of `defineQueue`. */
export function openQueues<T>({ redisServers, prefix }: QueueOptions): OpenQueues<T> {
  const commands = openQueueRedis(redisServers);
  const shared = { prefix: queuePrefix(prefix, slotGroupsOf(commands)), connection: commands as ConnectionOptions };
  const queues = new Map<string, JobQueue>();

  function queueOf(name: string): JobQueue {
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue = new Queue(name, { ...shared, defaultJobOptions: { removeOnComplete: true, removeOnFail: true } });
    queue.on("error", () => {});
    queues.set(name, queue);
    return queue;
  }

  return {
    async add(name, jobs) {
      await queueOf(name).addBulk(jobs.map((job) => ({ ...job, opts: { ...job.opts } })));
    },
    async obliterate(name) {
      await queueOf(name).obliterate({ force: true });
      await queues.get(name)?.close();
      queues.delete(name);
    },
    async close() {
      await waitAtMost(closeTimeoutMs, Promise.all([...queues.values()].map((queue) => queue.close())));
      commands.disconnect();
    },
  };
}
