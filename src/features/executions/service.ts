/** What can be done with executions. Routes and agents come through here. */

import { Value } from "@sinclair/typebox/value";
import { executionEvents, isTerminal, wireEvent } from "../../../actors/execution/events.ts";
import { execution } from "../../../actors/execution/execution.ts";
import { Status } from "../../../actors/execution/messages.ts";
import type { IterationRecord } from "../../../actors/execution/record/iteration-record.ts";
import {
  EventFold,
  type ExecutionElement,
  type ExecutionRecord,
  executionElement,
} from "../../../actors/execution/record/record.ts";
import type { StartFacts, StartPlan } from "../../../actors/execution/start/facts.ts";
import { recordedVolumes } from "../../../actors/execution/start/mounts.ts";
import type { Header, MountPlan, Plan } from "../../../actors/execution/start/plan.ts";
import { planStart } from "../../../actors/execution/start/plan-start.ts";
import type { StartRequest } from "../../../actors/execution/start/request.ts";
import { type ExecutionState, isOver } from "../../../actors/execution/state.ts";
import { notOneOf } from "../../../actors/kernel/nearest.ts";
import { invalidField, Problem } from "../../../actors/kernel/problem.ts";
import { iso, readTime } from "../../../actors/kernel/time.ts";
import { executionQuota } from "../../../actors/policy/quota.ts";
import { type List, listOf, type Page, readLabels } from "../../http/paging.ts";
import { type Address, MailboxFull, MessageRejected, type Runtime } from "../../runtime/port.ts";
import type { Agents } from "../agents/port.ts";
import type { AuditedBy } from "../audit/port.ts";
import type { OpenVolumes } from "../volumes/port.ts";
import type { KeptPlans } from "./plans.ts";
import type { ExecutionRecords, ListFilter } from "./records.ts";
import type { ExecutionFilter, Started } from "./schema.ts";
import { admitStart, type StartAdmission, type StartAdmissionOptions } from "./start/admission.ts";
import type { Concurrency } from "./start/concurrency.ts";
import { gatherStartFacts, type StartFactsOptions } from "./start/facts.ts";
import { joinableSwarm } from "./start/swarm.ts";
import { StartWatch } from "./sweep/deleted-agents.ts";

/** Events read at once; one may hold a whole conversation. */
const eventsAtOnce = 50;

export interface ExecutionsOptions extends StartFactsOptions {
  readonly agents: Pick<Agents, "resolveForExecution" | "gone">;
  readonly volumes: StartFactsOptions["volumes"] & Pick<OpenVolumes, "settle">;
  readonly runtime: Runtime;
  readonly records: ExecutionRecords;
  readonly plans: KeptPlans;
  /** Unix ms. */
  readonly now: () => number;
  readonly concurrency: Pick<Concurrency, "reserve" | "release">;
  readonly rates: StartAdmissionOptions["rates"];
  /** Whether this node's disk can take what another execution needs. */
  readonly hasRoom: () => boolean;
}

/** A start that was accepted. */
export interface BegunExecution {
  readonly started: Started;
  /** What the caller is told of its rates; nothing for a start that was accepted before. */
  readonly headers: StartAdmission["headers"];
}

/** An execution that is known to exist in the caller's tenant. */
export interface Found {
  readonly at: Address;
  readonly state: ExecutionState;
}

export type Executions = ReturnType<typeof createExecutions>;

export function createExecutions(options: ExecutionsOptions) {
  const { runtime, records, plans, concurrency } = options;
  const executions = runtime.of(execution);
  /** As it is read now: a deadline that stands still moves along. */
  const subject = ({ key, tenant }: Pick<Address, "key" | "tenant">) => ({
    execution_id: key,
    tenant_id: tenant,
    now: options.now(),
  });

  async function find(tenant: string, executionId: string): Promise<Found> {
    const actor = executions.at(tenant, executionId);
    const state = await actor.read();
    if (state === null) throw notFound();
    return { at: actor.address, state };
  }

  /** The events so far, read page by page: their console output alone may be many times what a record shows. */
  async function foldOf({ tenant, key }: Address, prompts: boolean): Promise<EventFold> {
    const actor = executions.at(tenant, key);
    const fold = new EventFold(prompts);
    for await (const page of actor.logPages(executionEvents, 0, eventsAtOnce)) fold.add(page.map(({ entry }) => entry));
    return fold;
  }

  /** Resolves when the execution has ended, the time is up or the caller is gone. */
  function untilOver({ tenant, key }: Address, seconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stop = executions.at(tenant, key).tail(0, (entries, ended) => {
        if (ended || entries.some(({ entry }) => isTerminal(entry))) done();
      });
      const timer = setTimeout(() => done(), seconds * 1000);
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        stop();
        resolve();
      };
      signal.addEventListener("abort", done, { once: true });
    });
  }

  /** Cancels every execution of the agent that has not ended. Repeatable. */
  async function cancelOfAgent(agentId: string, reason: string): Promise<void> {
    const unfinished = await records.unfinishedOf(agentId);
    await Promise.all(
      unfinished.map((row) => executions.at(row.tenant, row.execution_id).tellCommitted("cancel", { reason })),
    );
  }

  /** Stores the volumes of a start that was decided. What a start that fails afterwards leaves behind is swept. */
  async function storeVolumes(
    { tenant, starter }: StartRequest,
    { executionId, agent, sources }: StartFacts,
    { volumes, attachments }: StartPlan,
  ): Promise<MountPlan[]> {
    if (volumes.kind === "none") return [];
    if (volumes.kind === "judged") return [...volumes.mounts];
    const { declared, ofRun } = volumes;
    const { agent_id: agentId } = agent;
    const wanted = { tenant, agentId, executionId, reader: starter, declared, sources, attachments, ofRun };
    return options.volumes.settle(wanted);
  }

  const watch = new StartWatch({ agents: options.agents, cancelOfAgent });

  /**
   * Starts an execution under an id; the same id again is the same execution, even if its agent has changed since.
   * @param fresh whether the id was minted for this very call
   * @param left gives the signal that the caller has left; null: the start is stored and waits as long as it takes
   * @throws Problem 403, 404, 409, 422, 429, 503 when refused: then nothing was stored
   */
  async function beginAs(
    executionId: string,
    fresh: boolean,
    request: StartRequest,
    left: (() => AbortSignal) | null = null,
  ): Promise<BegunExecution> {
    const actor = executions.at(request.tenant, executionId);
    const earlier = fresh ? null : await actor.read();
    if (earlier !== null) {
      return { started: startedBody(executionId, earlier.header, iso(earlier.created_at)), headers: {} };
    }
    let admission: StartAdmission | null = null;
    try {
      const facts = await gatherStartFacts(options, executionId, request, left);
      const decision = planStart(request, facts);
      if (decision instanceof Problem) throw decision;
      // Who does not wait for the answer is not refused: the work waits for room.
      if (left !== null) requireRoom(decision, options.hasRoom);
      admission = await admitStart(options, executionId, request, executionQuota(facts.terms));
      const mounts = await storeVolumes(request, facts, decision);
      const header: Header = { ...decision.header, volumes: recordedVolumes(mounts) };
      const plan: Plan = { ...decision.plan, mounts };
      const reply = await actor.ask("start", { header, plan }, { fresh });
      // Where another node may use the id as well, it is unknown which plan was written.
      if (fresh) plans.keep(actor.address, plan);
      watch.note(header.agent_id);
      return { started: startedBody(executionId, header, reply.created_at), headers: admission.headers };
    } catch (error) {
      // After other failures it is unknown whether it was stored; the records will show it.
      const nothingStored =
        error instanceof Problem || error instanceof MessageRejected || error instanceof MailboxFull;
      if (nothingStored) await admission?.giveBack();
      if (!(error instanceof MessageRejected)) throw error;
      throw new Problem("execution_start_failed", "The execution could not be started");
    }
  }

  return {
    /** @throws Problem 404 `execution_not_found` */
    find,
    untilOver,
    /** Of an execution that this node starts. */
    newId: executions.newId,

    beginAs,

    /** The swarm of an execution as one that is started below it may join it; null: it takes no members any more. */
    joinable: (tenant: string, swarmId: string | null) => joinableSwarm(runtime, tenant, swarmId),

    /** `beginAs`, for callers that show no rates. */
    startAs: async (...start: Parameters<typeof beginAs>): Promise<Started> => (await beginAs(...start)).started,

    /** The answer to a start whose caller waits for the end. */
    async settled(started: Started, tenant: string, seconds: number, signal: AbortSignal): Promise<Started> {
      const actor = executions.at(tenant, started.execution_id);
      const at = actor.address;
      await untilOver(at, seconds, signal);
      const state = await actor.read();
      // Deleted meanwhile: what was started is all there is to say.
      if (state === null) return started;
      const { status } = state;
      if (status !== "completed") return { ...started, status };
      const { output } = (await foldOf(at, false)).record(subject(at), state, await plans.of(at));
      return { ...started, status, output };
    },

    /** What the execution was asked to do. @throws Problem 404 when it was removed meanwhile */
    async planOf({ at }: Found): Promise<Plan> {
      try {
        return await plans.of(at);
      } catch (error) {
        await find(at.tenant, at.key);
        throw error;
      }
    },

    /** Newest first. */
    async list(tenant: string, filter: ExecutionFilter, page: Page): Promise<List<"executions", ExecutionElement>> {
      const rows = await records.list(tenant, readFilter(filter), page);
      const ids = rows.map(({ execution_id }) => execution_id);
      const states = await executions.readListed(tenant, ids);
      const positions = new Map(rows.map(({ execution_id, position }) => [execution_id, position]));
      const elements = ids.flatMap((id): ExecutionElement[] => {
        const state = states.get(id);
        return state ? [executionElement(subject({ key: id, tenant }), state)] : [];
      });
      return listOf("executions", elements, page, ({ id }) => [positions.get(id) ?? "0", id]);
    },

    /** @param waitSeconds holds the answer until the execution has ended or the time is up */
    async record(found: Found, prompts: boolean, waitSeconds: number, signal: AbortSignal): Promise<ExecutionRecord> {
      let { at, state } = found;
      if (waitSeconds > 0 && !isOver(state)) {
        await untilOver(at, waitSeconds, signal);
        ({ at, state } = await find(at.tenant, at.key));
      }
      return (await foldOf(at, prompts)).record(subject(at), state, await plans.of(at));
    },

    async iterations({ at }: Found, prompts: boolean): Promise<IterationRecord[]> {
      return (await foldOf(at, prompts)).iterations();
    },

    /** Events behind the `offset`-th, oldest first, as streams tell them to readers without further scopes. */
    async events({ at }: Found, limit: number, offset: number) {
      const page = await executions.at(at.tenant, at.key).log(executionEvents, offset, limit + 1);
      const items = page.slice(0, limit).map(({ seq, entry }) => ({ id: seq, event: wireEvent(entry, false) }));
      return { execution_id: at.key, items, count: items.length, has_more: page.length > limit };
    },

    /**
     * Takes an execution that a tool call started below another one into what ends with that one.
     * @throws Problem 409 `execution_not_running` when that one has ended: then the child is cancelled; 429
     */
    async adopt(tenant: string, parentId: string, child: Pick<Started, "execution_id" | "agent_id">): Promise<void> {
      const { execution_id, agent_id } = child;
      const { outcome } = await executions.at(tenant, parentId).ask("adopt_child", { execution_id, agent_id });
      if (outcome === "adopted") {
        const state = await executions.at(tenant, execution_id).read();
        if (state === null || !isOver(state)) return;
        // It told its end before there was a parent to hear it.
        const { status, ending } = state;
        const end = { child_execution_id: execution_id, agent_id, status, output: null };
        await executions
          .at(tenant, parentId)
          .tellCommitted("child_ended", { ...end, error_code: ending?.error_code ?? null });
        return;
      }
      await executions.at(tenant, execution_id).ask("cancel", { reason: "parent_ended" });
      if (outcome === "over") throw new Problem("execution_not_running", "The calling execution has ended");
      throw new Problem("too_many_children", "The execution has too many others under way that its calls started");
    },

    /** @throws Problem 409 `execution_already_terminal` */
    async cancel({ at }: Found, reason: string | null) {
      const reply = await executions.at(at.tenant, at.key).ask("cancel", { reason });
      if (reply.outcome === "unknown") throw notFound();
      if (reply.outcome === "already_terminal") {
        throw new Problem("execution_already_terminal", "The execution has already ended", { status: reply.status });
      }
      const { execution_id, cancelled_at } = reply;
      return { status: "cancelled", success: true, execution_id, reason: reply.reason, cancelled_at } as const;
    },

    /** On record in the audit log: cancels it if need be, then removes its record, its events and its workspace. */
    async erase({ at }: Pick<Found, "at">, by: AuditedBy) {
      await executions.at(at.tenant, at.key).ask("erase", { by });
      await concurrency.release(at.tenant, at.key);
      return { status: "deleted", success: true, execution_id: at.key } as const;
    },

    /** For `agents`: executions the tenant ran of each. */
    countByAgent: records.countByAgent,

    cancelOfAgent,
  };
}

/** The answer to a start: pending, even if the execution has gone on since. */
function startedBody(executionId: string, { agent_id, agent_version }: Header, createdAt: string): Started {
  return {
    execution_id: executionId,
    id: executionId,
    agent_id,
    agent_version,
    status: "pending",
    output: null,
    created_at: createdAt,
  };
}

function notFound(): Problem {
  return new Problem("execution_not_found", "Execution not found");
}

/** @throws Problem 422 */
function readFilter(filter: ExecutionFilter): ListFilter {
  const statuses = filter.status?.split(",").map((status) => status.trim()) ?? null;
  const known = Status.anyOf.map((one) => one.const);
  const unknown = statuses?.find((status) => !Value.Check(Status, status));
  if (unknown !== undefined) throw invalidField("status", notOneOf(unknown, known));
  return {
    agentId: filter.agent_id ?? null,
    statuses,
    workflowName: filter.workflow_name ?? null,
    workflowExecutionId: filter.workflow_execution_id ?? null,
    parentExecutionId: filter.parent_execution_id ?? null,
    labels: readLabels(filter.label),
    startedAfter: filter.started_after === undefined ? null : readTime("started_after", filter.started_after),
    startedBefore: filter.started_before === undefined ? null : readTime("started_before", filter.started_before),
  };
}

/** @throws Problem 503 where an instance is needed and this node's disk is full */
function requireRoom({ header }: StartPlan, hasRoom: () => boolean): void {
  if (header.inline === true || hasRoom()) return;
  throw new Problem("service_unavailable", "There is no room to start this now", {}, { "Retry-After": "10" });
}
