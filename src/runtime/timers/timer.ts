/**
 * Timers and jobs on BullMQ. A timer is a delayed job that becomes a message when it fires; whether it still
 * matters is the actor's business, so a timer that fires twice, or after it was cancelled, does no harm.
 */
import { type ConnectionOptions, Queue, Worker } from "bullmq";
import type { RedisClient } from "../../store/redis.ts";
import type { JobPort, TimerJob } from "../effects/outbox.ts";

const queueName = "timers";

/**
 * The two ids under which a timer may stand: while it fires under one, it can be scheduled anew under the other
 * only, since BullMQ takes no job whose id is in use. It uses `:` in its own keys and refuses it in job ids.
 */
function timerIds(kind: string, key: string, timer: string): readonly [string, string] {
  const id = `${kind}~${key}~${timer}`.replaceAll("%", "%25").replaceAll(":", "%3A");
  return [id, `${id}%2B`];
}
const firing = "active";
const free = "unknown";

export interface TimersOptions {
  readonly connection: RedisClient;
  /** A connection of its own: the worker blocks on it. */
  readonly blocking: RedisClient;
  readonly prefix: string;
  readonly now: () => number;
  /** Delivers a fired timer; a rejection makes BullMQ try again later. */
  fire(timer: TimerJob): Promise<void>;
}

export class Timers implements JobPort {
  private readonly queue: Queue;
  private worker: Worker | null = null;

  constructor(private readonly options: TimersOptions) {
    this.queue = this.open(queueName);
  }

  start(): void {
    this.worker = new Worker(queueName, (job) => this.options.fire(job.data as TimerJob), {
      connection: this.options.blocking as ConnectionOptions,
      prefix: this.options.prefix,
      concurrency: 64,
      removeOnComplete: { count: 0 },
    });
    this.worker.on("error", () => {});
  }

  /** Timers whose names are free, as almost all are, are scheduled with one command; the others one by one. */
  async schedule(timers: readonly TimerJob[]): Promise<void> {
    const { connection } = this.options;
    const keys = timers.map(({ kind, key, timer }) => timerIds(kind, key, timer).map((id) => this.queue.toKey(id)));
    const used = await Promise.all(keys.map((both) => connection.exists(...both)));
    const fresh = timers.filter((_, index) => used[index] === 0);
    if (fresh.length > 0) {
      await this.queue.addBulk(fresh.map((timer) => this.job(timer, timerIds(timer.kind, timer.key, timer.timer)[0])));
    }
    for (const timer of timers.filter((_, index) => used[index] !== 0)) await this.scheduleBeside(timer);
  }

  /** The name is in use, or was a moment ago. */
  private async scheduleBeside(timer: TimerJob): Promise<void> {
    const ids = timerIds(timer.kind, timer.key, timer.timer);
    const states = await Promise.all(ids.map((id) => this.queue.getJobState(id)));
    if (states.some((state) => state !== free && state !== firing)) return;
    const { name, data, opts } = this.job(timer, states[0] === free ? ids[0] : ids[1]);
    await this.queue.add(name, data, opts);
  }

  private job(timer: TimerJob, jobId: string) {
    return {
      name: "timer",
      data: timer,
      opts: { jobId, delay: Math.max(0, timer.at - this.options.now()) },
    };
  }

  async cancel(kind: string, key: string, timer: string): Promise<void> {
    // A job that is just firing is locked and stays; its actor ignores the message.
    const removals = timerIds(kind, key, timer).map((id) =>
      this.queue.remove(id).catch((error: Error) => {
        if (!/locked/i.test(error.message)) throw error;
      }),
    );
    await Promise.all(removals);
  }

  /** Stops taking timers; those under way are finished. */
  async stop(): Promise<void> {
    await this.worker?.close();
    await this.queue.close();
  }

  private open(name: string): Queue {
    const queue = new Queue(name, {
      connection: this.options.connection as ConnectionOptions,
      prefix: this.options.prefix,
      defaultJobOptions: {
        attempts: 1000,
        backoff: { type: "fixed", delay: 1000 },
        removeOnComplete: true,
        removeOnFail: 1000,
      },
    });
    queue.on("error", () => {});
    return queue;
  }
}
