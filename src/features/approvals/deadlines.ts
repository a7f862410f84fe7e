/**
 * The time-outs of approvals as jobs of BullMQ, over the timers of the actors. A job is added once its deadline is near,
 * after the commit that opens the approval or by a look of the node that has it, and removed once the approval is decided;
 * at its time it tells the approval to expire, from any node. The timer's row guarantees the same without it: a job that
 * Redis lost, or that was never added, is not missed, and an approval expires once, whichever of the two comes first.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { approval } from "../../../actors/approval/approval.ts";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import { inPortions } from "../../lib/portions.ts";
import type { ActorChange, Runtime } from "../../runtime/port.ts";
import { defineQueue, NotYet, openQueue, type QueueOptions } from "../../store/queues.ts";
import type { ApprovalRecords, NearingRow } from "./records.ts";

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
  readonly records: Pick<ApprovalRecords, "nearing">;
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
  /** Adds jobs for the approvals of this node whose deadlines came near. @throws when PostgreSQL is away */
  look(): Promise<void>;
  /** Begins to wake approvals on this node, and to look every minute. */
  work(): void;
  close(): Promise<void>;
}

const usualGatherMs = 200;
/** A deadline is near when it is so far off, ms: most approvals are decided long before, and cost Redis nothing. */
export const nearMs = 10 * 60_000;
const lookEveryMs = 60_000;
/** Looks that see an approval, so that one is not missed whose partition was on its way to this node; its job is one. */
const looks = 3;
/** Approvals noted at once; so many again once these had time to become jobs. */
const notedAtOnce = 1_000;
/** Approvals told at once on one node. */
const concurrency = 32;
/** Changes that wait while Redis is away; approvals beyond them have their timers alone. */
const maxWaiting = 10_000;
/** Attempts to tell an approval; its timer does it in any case. */
const retry = { attempts: 3, backoff: { type: "exponential", delay: 1000 } } as const;

export function openDeadlines(options: DeadlinesOptions): Deadlines {
  const { runtime, records, now, gatherMs = usualGatherMs } = options;
  const { queue, work, close } = openQueue(deadlineQueue, options);
  const opened = new Map<string, DeadlineJob>();
  const decided = new Set<string>();
  let isSettling = false;
  let isClosed = false;
  /** Unix ms. Deadlines up to then have been seen by a look. */
  let lookedUntil = 0;
  let looking: ReturnType<typeof setInterval> | undefined;

  const isNear = (due: number) => due - now() <= nearMs;

  function note({ key, tenant, before, after }: ActorChange<ApprovalState>): void {
    const wasPending = before?.status === "pending";
    if (after?.status === "pending") {
      if (!wasPending && isNear(after.expires_at)) open({ approval_id: key, tenant, due: after.expires_at });
    } else if (wasPending && isNear(before.expires_at) && !opened.delete(key) && decided.size < maxWaiting) {
      decided.add(key);
    }
  }

  function open(job: DeadlineJob): void {
    if (opened.size < maxWaiting) opened.set(job.approval_id, job);
  }

  function settleSoon(): void {
    if (!isSettling && opened.size + decided.size > 0) void settle();
  }

  async function look(): Promise<void> {
    const until = now() + nearMs;
    const from = new Date(Math.max(now(), lookedUntil - (looks - 1) * lookEveryMs));
    await inPortions<NearingRow>(
      {
        find: (after, limit) => records.nearing(from, new Date(until), after, limit),
        isMine: ({ approval_id }) => runtime.of(approval).isHere(approval_id),
        work: async ({ approval_id, tenant, expires_at }) => open({ approval_id, tenant, due: expires_at.getTime() }),
        prepare: async () => settleSoon(),
        atOnce: notedAtOnce,
        pauseMs: 2 * gatherMs,
      },
      () => isClosed,
    );
    settleSoon();
    lookedUntil = until;
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
      settleSoon();
    },
    waiting: () => opened.size + decided.size,
    look,
    work() {
      work(concurrency, wake);
      // What a look misses is left to the timers.
      const tryToLook = () => void look().catch(() => {});
      tryToLook();
      looking = setInterval(tryToLook, lookEveryMs);
    },
    async close() {
      isClosed = true;
      clearInterval(looking);
      await close();
    },
  };
}
