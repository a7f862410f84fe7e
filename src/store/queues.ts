/** The queues of the service on BullMQ, beside the runtime's own: what each is called and what its jobs hold. */
import { type ConnectionOptions, type Job, Queue, Worker } from "bullmq";
import { waitAtMost } from "../lib/timers.ts";
import { openRetryingRedis } from "./redis.ts";

/** What the jobs of each queue hold. Names may not contain `:`. */
export interface Queues {
  schedules: ScheduleJob;
  "stimulus-classification": ClassificationJob;
}

/** An agent's schedule has come round. */
export interface ScheduleJob {
  readonly agent_id: string;
  /** The settled schedule the job came from. */
  readonly terms: string;
  /** Unix ms. Absent: when the job itself was due. */
  readonly due?: number;
}

/** A router agent is to say which workflow a stimulus goes to. The job's id is that of the agent's execution. */
export interface ClassificationJob {
  readonly tenant: string;
  readonly stimulus_id: string;
  readonly execution_id: string;
  /** The tenant's router as it was when the stimulus was to be classified. */
  readonly agent_id: string;
  readonly confidence_threshold: number;
  /** Names or UUIDs; null: all of the tenant's own. */
  readonly allowed_workflows: readonly string[] | null;
  /** Unix ms after which the answer is no longer used. */
  readonly deadline: number;
}

export interface QueueOptions {
  readonly redisUrl: string;
  /** Of every key of the service. */
  readonly prefix: string;
}

export interface OpenQueue<T> {
  readonly queue: Queue<T>;
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
/** Nodes that may die over a job before it is given up. */
const maxStalledCount = 10;
/** Failed jobs that are kept for an operator to look at. */
const keptFailures = 1000;

export function openQueue<N extends keyof Queues>(name: N, { redisUrl, prefix }: QueueOptions): OpenQueue<Queues[N]> {
  const commands = openRetryingRedis(redisUrl);
  const blocking = openRetryingRedis(redisUrl);
  const shared = { prefix: `${prefix}:bull` };
  const queue = new Queue<Queues[N]>(name, {
    ...shared,
    connection: commands as ConnectionOptions,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: keptFailures },
  });
  queue.on("error", () => {});
  let worker: Worker<Queues[N]> | null = null;
  return {
    // BullMQ derives the type of its jobs by conditional types, which a type parameter leaves open.
    queue: queue as unknown as Queue<Queues[N]>,
    work(concurrency, run, lockMs = usualLockMs) {
      worker = new Worker<Queues[N]>(name, (job) => run(job.data as Queues[N], dueAt(job)), {
        ...shared,
        connection: blocking as ConnectionOptions,
        concurrency,
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

/** When a job was to run, Unix ms. Those of a job scheduler have it in their id, `repeat:<scheduler>:<ms>`. */
function dueAt({ id, timestamp, opts }: Pick<Job, "id" | "timestamp" | "opts">): number {
  const [, scheduled] = /^repeat:.*:(\d+)$/.exec(id ?? "") ?? [];
  return scheduled === undefined ? timestamp + (opts.delay ?? 0) : Number(scheduled);
}
