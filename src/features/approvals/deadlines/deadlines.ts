/**
 * The time-outs of approvals as jobs of BullMQ, over the timers of the actors. A job is added once the approval is
 * committed and removed once it is decided; at its time it tells the approval to expire, from any node. The timer's row
 * guarantees the same without it: a job that Redis lost, or that was never added, is not missed, and an approval
 * expires once, whichever of the two comes first.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { approval } from "../../../../actors/approval/approval.ts";
import type { ApprovalState } from "../../../../actors/approval/state.ts";
import type { ActorChange, Runtime } from "../../../runtime/port.ts";
import { defineQueue, NotYet, openQueue, type QueueOptions } from "../../../store/queues.ts";

/** An approval is to expire. The job's id is that of the approval. */
interface DeadlineJob {
  readonly approval_id: string;
  readonly tenant: string;
  /** Unix ms. */
  readonly due: number;
}

export const deadlineQueue = defineQueue<DeadlineJob>("approval-deadlines");

export interface DeadlinesOptions extends QueueOptions {
  readonly runtime: Pick<Runtime, "of">;
  /** Unix ms. */
  readonly now: () => number;
  /** How long changes are gathered, so that an approval decided meanwhile costs no job, ms; 200 when left out. */
  readonly gatherMs?: number;
}

export interface Deadlines {
  /** Takes in what was committed. Never throws. */
  committed(changes: readonly ActorChange<ApprovalState>[]): void;
  /** Approvals whose jobs are to be added or removed. */
  waiting(): number;
  /** Begins to wake approvals on this node. */
  work(): void;
  close(): Promise<void>;
}

const usualGatherMs = 200;
/** Approvals told at once on one node. */
const concurrency = 32;
/** Changes that wait while Redis is away; approvals beyond them have their timers alone. */
const maxWaiting = 10_000;
/** Attempts to tell an approval; its timer does it in any case. */
const retry = { attempts: 3, backoff: { type: "exponential", delay: 1000 } } as const;

export function openDeadlines(options: DeadlinesOptions): Deadlines {
  const { runtime, now, gatherMs = usualGatherMs } = options;
  const { queue, work, close } = openQueue(deadlineQueue, options);
  const opened = new Map<string, DeadlineJob>();
  const decided = new Set<string>();
  let isSettling = false;
  let isClosed = false;

  function note({ key, tenant, before, after }: ActorChange<ApprovalState>): void {
    const wasPending = before?.status === "pending";
    if (after?.status === "pending") {
      if (wasPending || opened.size >= maxWaiting) return;
      opened.set(key, { approval_id: key, tenant, due: after.expires_at });
    } else if (wasPending && !opened.delete(key) && decided.size < maxWaiting) decided.add(key);
  }

  /** Brings the jobs in step with what was noted; one round at a time, so that a removal never overtakes its addition. */
  async function settle(): Promise<void> {
    isSettling = true;
    while (!isClosed && opened.size + decided.size > 0) {
      await sleep(gatherMs, undefined, { ref: false });
      const data = [...opened.values()];
      const gone = [...decided];
      opened.clear();
      decided.clear();
      const added = data.map((job) => ({
        name: "expire",
        data: job,
        opts: { ...retry, jobId: job.approval_id, delay: Math.max(0, job.due - now()) },
      }));
      // What fails here is left to the timers.
      if (added.length > 0) await queue.addBulk(added).catch(() => {});
      await Promise.all(gone.map((id) => queue.remove(id).catch(() => {})));
    }
    isSettling = false;
  }

  async function wake({ approval_id: id, tenant, due }: DeadlineJob): Promise<void> {
    const early = due - now();
    if (early > 0) throw new NotYet(early);
    await runtime.of(approval).at(tenant, id).tell("expire", {});
  }

  return {
    committed(changes) {
      for (const change of changes) note(change);
      if (!isSettling && opened.size + decided.size > 0) void settle();
    },
    waiting: () => opened.size + decided.size,
    work: () => work(concurrency, wake),
    async close() {
      isClosed = true;
      await close();
    },
  };
}
