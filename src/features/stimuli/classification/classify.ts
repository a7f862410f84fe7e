/**
 * Classification: a router agent says which workflow a stimulus goes to. It is a job of the queue
 * `stimulus-classification`, which any node may take up; the caller waits for the outcome.
 *
 * The router's execution has an id that is noted in the stimulus's row before it is started. So a job that is repeated,
 * because its node died or Redis lost it, joins the same execution, and its outcome is the same. That makes it safe to
 * put a job that is waited for on the queue again and again: outcomes are told once, in the process or by pub/sub, and
 * one that was not heard is made up for by the next round.
 */
import type { Redis } from "ioredis";
import { agentFailed } from "../../../../actors/stimulus/classification.ts";
import { routerInput } from "../../../../actors/stimulus/router-input.ts";
import type { Chosen, Settlement, Stimulus } from "../../../../actors/stimulus/stimulus.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { defineQueue, openQueue, type QueueOptions } from "../../../store/queues.ts";
import { openRedis, openSubscriber, type RedisClient, type RedisServers } from "../../../store/redis/connections.ts";
import type { Router } from "../sources/port.ts";
import { createMatching, failed, type MatchOptions, type RouterTerms } from "./match.ts";
import { classifyRecords, initiatorOf, type StoredForRouting } from "./records.ts";
import { addressOf, cancelRouter, type RouterRunOptions, runRouter } from "./router-run.ts";
import { createTenantSlots } from "./tenant-slots.ts";

export interface ClassifierOptions extends QueueOptions, RouterRunOptions, MatchOptions {
  readonly sql: Sql;
  /** Classifications under way at once on this node, `SVC_MAX_CLASSIFICATIONS`. */
  readonly concurrency: number;
  readonly newId: () => string;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
  /** How long a node that says nothing of a job keeps it, ms; 10 000 when absent. */
  readonly lockMs?: number;
  /** Jobs that are waited for are queued again after so long, ms; 3000 when absent. */
  readonly queueAgainMs?: number;
}

export interface Classifier {
  /**
   * Has a router classify a stimulus. In any case there is an answer within its time and 2 s.
   * @returns which workflow it goes to, or one of the failures of docs/reference/stimuli.md
   * @throws when PostgreSQL is away, or this node leaves: then the outcome is unknown, and another attempt joins this one
   */
  classify(stimulus: Stimulus, router: Router): Promise<Chosen | Settlement>;
  /** Takes jobs up on this node. */
  work(): void;
  /** Redis may have lost jobs, and the outcomes told by it: those that are waited for here are queued again. */
  redisLost(): void;
  /** Takes no more jobs; those under way, and who waits here, are left to others. */
  close(): Promise<void>;
}

type Outcome = Chosen | Settlement;

/** A caller on this node that waits for an outcome. */
interface Waiting {
  readonly job: ClassificationJob;
  readonly stimulus: StoredForRouting;
  /** Until when the execution's id is as good as unused, Unix ms; for one start. Null: another node may have used it. */
  freshUntil: number | null;
  /** Unix ms; null: its turn has not come. */
  queuedAt: number | null;
  isQueueing: boolean;
  readonly outcome: Promise<Outcome>;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
}

const usualLockMs = 10_000;
/** Of what a node does at once, the part it has on the queue for one tenant. */
const tenantShare = 1 / 4;
/** What a job may need besides the router's time before the waiting caller gives it up, ms. */
const graceMs = 1200;
/** Redis may have lost a job, or its outcome, ms. */
const usualQueueAgainMs = 3000;
/** For so long only the node that took up a new job uses its id, ms. */
const freshMs = 2000;

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

const classificationQueue = defineQueue<ClassificationJob>("stimulus-classification");

export function createClassifier(options: ClassifierOptions): Classifier {
  const { redisServers, prefix, now, report, queueAgainMs = usualQueueAgainMs } = options;
  const records = classifyRecords(options.sql);
  const matching = createMatching(options);
  const queue = openQueue(classificationQueue, options);
  const channel = openChannel(redisServers, `${prefix}:classified`);
  const turns = createTenantSlots(Math.ceil(options.concurrency * tenantShare));
  const waiting = new Map<string, Waiting>();
  const leaving = new AbortController();

  async function classify(stimulus: Stimulus, router: Router): Promise<Outcome> {
    const { tenant, id, source, content, headers } = stimulus;
    const minted = stimulus.routerExecutionId ?? options.newId();
    const executionId = stimulus.routerExecutionId ?? (await records.begin({ tenant, id, executionId: minted }));
    // Settled by another attempt: the outcome of this one is not used.
    if (executionId === null) throw new Error("the stimulus was settled meanwhile");
    leaving.signal.throwIfAborted();
    const known = waiting.get(executionId);
    if (known !== undefined) return known.outcome;
    const job: ClassificationJob = {
      tenant,
      stimulus_id: id,
      execution_id: executionId,
      agent_id: router.agentId,
      confidence_threshold: router.confidenceThreshold,
      allowed_workflows: router.allowedWorkflows,
      deadline: now() + router.timeoutSeconds * 1000,
    };
    const initiatingUserSub = initiatorOf(stimulus.receivedBy);
    const one = newWaiting(job, { id, tenant, source, content, headers, initiatingUserSub });
    waiting.set(executionId, one);
    const leave = turns.take(tenant, () => {
      if (stimulus.routerExecutionId === null && executionId === minted) one.freshUntil = now() + freshMs;
      enqueue(one);
    });
    const timer = setTimeout(() => giveUp(one), router.timeoutSeconds * 1000 + graceMs);
    try {
      return await one.outcome;
    } finally {
      clearTimeout(timer);
      waiting.delete(executionId);
      leave();
    }
  }

  /** Repeatable: a job that is there already stays as it is. */
  function enqueue(one: Waiting): void {
    if (one.isQueueing) return;
    one.isQueueing = true;
    one.queuedAt = now();
    // What is left of a failed job would keep it from being queued again.
    queue.queue
      .add("classify", one.job, { jobId: one.job.execution_id, removeOnFail: true })
      .catch((error: unknown) => {
        if (!leaving.signal.aborted) report("classification_not_queued", { error: String(error) });
      })
      .finally(() => {
        one.isQueueing = false;
      });
  }

  /** There was no answer: the node at work on it is gone, there is no free one, or Redis is away. */
  function giveUp({ job, queuedAt, resolve }: Waiting): void {
    const executionId = job.execution_id;
    if (queuedAt !== null) void cancelRouter(options, addressOf({ tenant: job.tenant, executionId }));
    const message = "The router agent did not answer in time and was cancelled";
    resolve(failed(termsOf(job), executionId, agentFailed({ reason: "timed_out", message }, executionId)));
  }

  /** A job, on any node. @throws when it must be done again */
  async function run(job: ClassificationJob): Promise<void> {
    const outcome = await outcomeOf(job);
    const here = waiting.get(job.execution_id);
    if (here !== undefined) here.resolve(outcome);
    else await channel.tell(job.execution_id, outcome);
  }

  async function outcomeOf(job: ClassificationJob): Promise<Outcome> {
    const { tenant, execution_id: executionId, deadline } = job;
    const terms = termsOf(job);
    const here = waiting.get(executionId);
    const stimulus = here?.stimulus ?? (await records.routed(tenant, job.stimulus_id));
    if (stimulus === null) {
      const message = "The stimulus does not exist any more";
      return failed(terms, executionId, agentFailed({ reason: "refused", message }, null));
    }
    const input = routerInput(stimulus, await matching.offered(terms));
    const { initiatingUserSub } = stimulus;
    const fresh = now() < (here?.freshUntil ?? 0);
    if (here !== undefined) here.freshUntil = null;
    const end = await runRouter(
      options,
      { tenant, executionId, fresh, agentId: job.agent_id, input, initiatingUserSub, deadline },
      leaving.signal,
    );
    return matching.verdict(terms, executionId, end);
  }

  channel.listen((executionId, outcome) => waiting.get(executionId)?.resolve(outcome));
  /** Of those that are waited for, each that was queued so long ago. */
  const queueAgain = (ms: number) => {
    for (const one of waiting.values()) if (one.queuedAt !== null && now() - one.queuedAt >= ms) enqueue(one);
  };
  const rounds = setInterval(() => queueAgain(queueAgainMs), queueAgainMs / 3);
  rounds.unref();

  return {
    classify,
    work() {
      queue.work(options.concurrency, run, options.lockMs ?? usualLockMs);
    },
    redisLost: () => queueAgain(0),
    async close() {
      clearInterval(rounds);
      const left = new Error("this node is leaving");
      leaving.abort(left);
      for (const { reject } of waiting.values()) reject(left);
      await queue.close();
      channel.close();
    },
  };
}

function newWaiting(job: ClassificationJob, stimulus: StoredForRouting): Waiting {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  return { job, stimulus, freshUntil: null, queuedAt: null, isQueueing: false, outcome: promise, resolve, reject };
}

const termsOf = (job: ClassificationJob): RouterTerms => ({
  tenant: job.tenant,
  agentId: job.agent_id,
  confidenceThreshold: job.confidence_threshold,
  allowedWorkflows: job.allowed_workflows,
});

/** Where outcomes are told to other nodes. All hear all of them. */
function openChannel(redisServers: RedisServers, name: string) {
  const commands: RedisClient = openRedis(redisServers);
  const subscriber: Redis = openSubscriber(redisServers);
  return {
    listen(hear: (executionId: string, outcome: Outcome) => void): void {
      subscriber.on("message", (_: string, text: string) => {
        // Nodes alone write to it.
        const [executionId, outcome] = JSON.parse(text) as [string, Outcome];
        hear(executionId, outcome);
      });
      // After a reconnect the client subscribes again by itself.
      subscriber.subscribe(name).catch(() => {});
    },
    async tell(executionId: string, outcome: Outcome): Promise<void> {
      await commands.publish(name, JSON.stringify([executionId, outcome]));
    },
    close(): void {
      commands.disconnect();
      subscriber.disconnect();
    },
  };
}
