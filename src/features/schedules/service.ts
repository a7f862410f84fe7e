/**
 * Agents that start by themselves.
 *
 * The records of the agents say who is to start when; BullMQ's job schedulers only trigger. Each has the id of
 * its agent. They are settled after every change of an agent, and compared with the records at boot, every minute and
 * when Redis may have lost them: what a crash left unsettled is settled then, and what Redis lost comes back.
 */
import { fireFor, latestFire, nextFire } from "../../../actors/agent/firing.ts";
import type { AgentSpec } from "../../../actors/agent/manifest/spec.ts";
import type { StartRequest } from "../../../actors/execution/start/request.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { derivedUuid } from "../../lib/digest.ts";
import { waitAtMost } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { defineQueue, openQueue, type QueueOptions } from "../../store/queues.ts";
import type { AgentChange } from "../agents/port.ts";
import { type ScheduledAgent, scheduleRecords } from "./records.ts";

export interface SchedulesOptions extends QueueOptions {
  readonly sql: Sql;
  /** The agent as it would run now. @throws Problem when it would not */
  readonly resolve: (request: { tenant: string; agentId: string }) => Promise<{ readonly spec: AgentSpec }>;
  /** The same id again is the same execution. @throws Problem when refused */
  readonly start: (executionId: string, request: StartRequest) => Promise<unknown>;
  /** Of the given executions, those that have not ended. */
  readonly unfinished: (executionIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Unix ms. */
  readonly now: () => number;
  readonly log: (event: string, facts: Record<string, unknown>) => void;
  /** How often schedulers are compared with the records; 60 000 when absent. */
  readonly compareEveryMs?: number;
}

export interface Schedules {
  /** To be told of every change of an agent. Never throws: what is not settled now is at the next comparison. */
  readonly watch: (change: Pick<AgentChange, "agentId">) => Promise<void>;
  /** A tenant may begin work again: its agents are settled, and what was due a moment ago is made up for. Never throws. */
  active(tenant: string): Promise<void>;
  /** Compares every scheduler with the records once. @throws when a store is away */
  compare(): Promise<void>;
  /** Redis may have lost schedulers: compares until it went well once. Never throws. */
  redisLost(): void;
  stop(): Promise<void>;
}

/** Starts under way at once on one node. */
const concurrency = 16;
/** A change of an agent waits at most this long for Redis, ms. */
const settleTimeoutMs = 2000;
/** Between two attempts at a comparison after a loss. */
const compareAgainMs = 500;
/** Attempts at a start that failed for no fault of its own: together a little less than it may be late. */
const retry = { attempts: 8, backoff: { type: "exponential", delay: 2000 } } as const;

/** An agent's schedule has come round. */
interface ScheduleJob {
  readonly agent_id: string;
  /** The settled schedule the job came from. */
  readonly terms: string;
  /** Unix ms. Absent: when the job itself was due. */
  readonly due?: number;
}

export const scheduleQueue = defineQueue<ScheduleJob>("schedules");

/** Begins to start agents by their schedules. */
export function openSchedules(options: SchedulesOptions): Schedules {
  const { now, log, compareEveryMs = 60_000 } = options;
  const records = scheduleRecords(options.sql);
  const { queue, work, close } = openQueue(scheduleQueue, options);
  let comparing: Promise<void> | null = null;
  let isStopping = false;

  async function settle(agentId: string): Promise<void> {
    const [agent] = await records.scheduled([agentId]);
    if (agent === undefined) {
      await queue.removeJobScheduler(agentId);
      return;
    }
    const known = await queue.getJobScheduler(agentId);
    if (known?.template?.data?.terms === termsOf(agent)) return;
    // No job fired while there was no scheduler; a moment that has just passed is made up for.
    if (known === undefined) await fireLate(agent);
    const anchor = agent.deployed_at.getTime();
    const { schedule } = agent;
    const next = nextFire(schedule, anchor, now());
    if (next === null) return;
    const repeat =
      schedule.type === "cron"
        ? { pattern: schedule.cron, tz: schedule.timezone }
        : { every: schedule.every_ms, startDate: next };
    const data: ScheduleJob = { agent_id: agentId, terms: termsOf(agent) };
    await queue.removeJobScheduler(agentId);
    await queue.upsertJobScheduler(agentId, repeat, { name: "start", data, opts: retry });
  }

  async function fireLate(agent: ScheduledAgent): Promise<void> {
    const due = latestFire(agent.schedule, agent.deployed_at.getTime(), now());
    if (due === null || momentOf(agent, due) === null) return;
    const data: ScheduleJob = { agent_id: agent.agent_id, terms: termsOf(agent), due };
    await queue.add("start", data, { ...retry, jobId: `${agent.agent_id}-${due}` });
  }

  function momentOf({ schedule, deployed_at, updated_at }: ScheduledAgent, due: number): number | null {
    const [anchor, since] = [deployed_at.getTime(), updated_at.getTime()];
    return fireFor(schedule, { anchor, due, since, now: Math.max(now(), due) });
  }

  /** A scheduler fired. @throws when the start may succeed later */
  async function fire({ agent_id, terms, due: named }: ScheduleJob, scheduled: number): Promise<void> {
    const [agent] = await records.scheduled([agent_id]);
    // Changed or gone since the scheduler was set.
    if (agent === undefined || termsOf(agent) !== terms) return settle(agent_id);
    const fire = momentOf(agent, named ?? scheduled);
    if (fire === null) return;
    const executionId = executionIdOf(agent_id, fire);
    const latest = await records.latest(agent_id);
    if (latest?.execution_id !== executionId) {
      if (latest !== null && latest.fire_at.getTime() >= fire) return;
      if (latest !== null && (await options.unfinished([latest.execution_id])).size > 0) {
        log("schedule_skipped", { agent_id, tenant: agent.tenant, running: latest.execution_id });
        return;
      }
      // Another node at the same moment starts the same execution; a start at a later moment wins.
      const taken = await records.claim(agent_id, new Date(fire), executionId);
      if (!taken && (await records.latest(agent_id))?.execution_id !== executionId) return;
    }
    await start(agent, executionId);
  }

  async function start(
    { agent_id: agentId, tenant, deployed_by, deployer }: ScheduledAgent,
    executionId: string,
  ): Promise<void> {
    try {
      const { spec } = await options.resolve({ tenant, agentId });
      await options.start(executionId, {
        agentId,
        tenant,
        origin: {
          trigger: "schedule",
          parent: null,
          workflow: null,
          initiatingUserSub: deployed_by,
          exempt: false,
        },
        starter: null,
        startedBy: deployer,
        input: spec.task.input_data ?? "",
      });
    } catch (error) {
      // A refusal is final: the next moment has its own start. Anything else may pass.
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      log("schedule_refused", { agent_id: agentId, tenant, code: error.code, reason: error.message });
    }
  }

  async function compare(): Promise<void> {
    // Redis first: an agent that is settled meanwhile is in the records read after it.
    const existing = new Map((await queue.getJobSchedulers()).map(({ key, template }) => [key, template?.data?.terms]));
    const unsettled: string[] = [];
    for await (const page of records.everyScheduled()) {
      for (const agent of page) {
        if (existing.get(agent.agent_id) !== termsOf(agent)) unsettled.push(agent.agent_id);
        existing.delete(agent.agent_id);
      }
    }
    for (const agentId of [...unsettled, ...existing.keys()]) await settle(agentId);
  }

  function compareNow(): Promise<void> {
    comparing ??= compare().finally(() => {
      comparing = null;
    });
    return comparing;
  }

  const unsettled = (error: unknown) => {
    log("schedules_unsettled", { error: String(error) });
    return false;
  };

  /** A comparison under way may have seen what is lost by now. */
  async function compareAfterLoss(): Promise<void> {
    await comparing?.catch(() => {});
    for (let isDone = false; !isDone && !isStopping; ) {
      isDone = await compareNow().then(
        () => true,
        (error) => unsettled(error),
      );
      if (!isDone) await Bun.sleep(compareAgainMs);
    }
  }

  // A job whose moment passed while no node ran fires at once; the comparison leaves it alone.
  work(concurrency, fire);
  void compareNow().catch(unsettled);
  const timer = setInterval(() => void compareNow().catch(unsettled), compareEveryMs);

  return {
    async watch({ agentId }) {
      await waitAtMost(settleTimeoutMs, settle(agentId).catch(unsettled));
    },
    async active(tenant) {
      const settled = async () => {
        for (const agentId of await records.ofTenant(tenant)) await settle(agentId);
      };
      await settled().catch(unsettled);
    },
    compare: compareNow,
    redisLost: () => void compareAfterLoss(),
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await close();
      await comparing?.catch(() => {});
    },
  };
}

/** What a scheduler was settled for: another text, another scheduler. */
function termsOf({ schedule, deployed_at }: ScheduledAgent): string {
  const anchor = schedule.type === "interval" ? deployed_at.getTime() : 0;
  return JSON.stringify([anchor, ...Object.values(schedule)]);
}

/** Every node makes the same id for the same moment. */
const executionIdOf = (agentId: string, fire: number): string => derivedUuid(`schedule ${agentId} ${fire}`);
