/** What can be done with executions. Routes, agents and later the management tools all come through here. */
import { Value } from "@sinclair/typebox/value";
import { isTerminal } from "../../actors/execution/events.ts";
import { EXECUTION } from "../../actors/execution/execution.ts";
import type { IterationRecord } from "../../actors/execution/iteration-record.ts";
import { CancelReply, StartReply, Status } from "../../actors/execution/messages.ts";
import {
  type ExecutionElement,
  type ExecutionRecord,
  executionElement,
  executionRecord,
  iterationRecords,
} from "../../actors/execution/record.ts";
import { type ExecutionState, isOver } from "../../actors/execution/state.ts";
import { invalid, Problem } from "../../actors/problem.ts";
import type { Agents } from "../agents/agents.ts";
import { listOf, type Page } from "../http/paging.ts";
import { type Address, MessageRejected, type Runtime } from "../runtime/port.ts";
import { StartWatch } from "./left-behind.ts";
import { readLog } from "./loop-activities.ts";
import type { Plans } from "./plans.ts";
import type { ExecutionRecords, ListFilter } from "./records.ts";
import type { ExecutionFilter, Started } from "./schema.ts";
import { prepareStart, type StartOptions, type StartRequest } from "./start.ts";

export interface ExecutionsOptions extends StartOptions {
  readonly agents: Pick<Agents, "resolveForExecution" | "gone">;
  readonly runtime: Runtime;
  readonly records: ExecutionRecords;
  readonly plans: Plans;
}

/** An execution that is known to exist in the caller's tenant. */
export interface Found {
  readonly at: Address;
  readonly state: ExecutionState;
}

export type Executions = ReturnType<typeof createExecutions>;

export function createExecutions(options: ExecutionsOptions) {
  const { runtime, records, plans } = options;
  const address = (tenant: string, key: string): Address => ({ kind: EXECUTION, key, tenant });

  async function find(tenant: string, executionId: string): Promise<Found> {
    const at = address(tenant, executionId);
    const stored = await runtime.read(at);
    if (!stored) throw notFound();
    // Checked against the actor's schema when it was written.
    return { at, state: stored.state as unknown as ExecutionState };
  }

  const allEvents = async (at: Address) =>
    (await readLog(runtime, at, "events", 1, Number.MAX_SAFE_INTEGER)).map(({ entry }) => entry);

  /** Resolves when the execution has ended, the time is up or the caller is gone. */
  function untilOver(at: Address, seconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stop = runtime.tail(at, 0, (entries, ended) => {
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

  async function outputOf({ at, state }: Found): Promise<string | null> {
    if (state.status !== "completed") return null;
    const record = executionRecord(subject(at), state, await plans.of(at), await allEvents(at), false);
    return record.output;
  }

  /** Cancels every execution of the agent that has not ended. Repeatable. */
  async function cancelOfAgent(agentId: string, reason: string): Promise<void> {
    const unfinished = await records.unfinishedOf(agentId);
    await Promise.all(
      unfinished.map((row) => runtime.tell(address(row.tenant, row.execution_id), "cancel", { reason })),
    );
  }
  const watch = new StartWatch({ agents: options.agents, cancelOfAgent });

  return {
    /** @throws Problem 404 `execution_not_found` */
    find,

    /**
     * Starts an execution under an id; the same id again is the same execution.
     * @param fresh whether the id was minted for this very call
     * @throws Problem 404, 409, 422 when refused: then nothing was stored
     */
    async start(executionId: string, fresh: boolean, request: StartRequest): Promise<Started> {
      const at = address(request.tenant, executionId);
      const { header, plan } = await prepareStart(options, request);
      const ask = fresh ? runtime.askNew : runtime.ask;
      const reply = await ask(at, "start", { header, plan }).catch((error: unknown) => {
        if (error instanceof MessageRejected)
          throw new Problem("execution_start_failed", "The execution could not be started");
        throw error;
      });
      watch.note(header.agent_id);
      const { status, created_at } = Value.Parse(StartReply, reply);
      const { agent_id, agent_version } = header;
      return { execution_id: executionId, id: executionId, agent_id, agent_version, status, output: null, created_at };
    },

    /** The answer to a start whose caller waits for the end. */
    async settled(started: Started, tenant: string, seconds: number, signal: AbortSignal): Promise<Started> {
      const at = address(tenant, started.execution_id);
      await untilOver(at, seconds, signal);
      const found = await find(tenant, started.execution_id);
      return { ...started, status: found.state.status, output: await outputOf(found) };
    },

    /** Newest first. */
    async list(tenant: string, filter: ExecutionFilter, page: Page): Promise<Record<string, unknown>> {
      const rows = await records.list(tenant, readFilter(filter), page);
      const ids = rows.map(({ execution_id }) => execution_id);
      const stored = await runtime.readMany(EXECUTION, tenant, ids);
      const states = new Map(stored.map(({ key, state }) => [key, state as unknown as ExecutionState]));
      const positions = new Map(rows.map(({ execution_id, position }) => [execution_id, position]));
      const elements = ids.flatMap((id): ExecutionElement[] => {
        const state = states.get(id);
        return state ? [executionElement({ execution_id: id, tenant_id: tenant }, state)] : [];
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
      return executionRecord(subject(at), state, await plans.of(at), await allEvents(at), prompts);
    },

    async iterations({ at }: Found, prompts: boolean): Promise<IterationRecord[]> {
      return iterationRecords(await allEvents(at), prompts);
    },

    /** @throws Problem 409 `execution_already_terminal` */
    async cancel({ at }: Found, reason: string | null) {
      const reply = Value.Parse(CancelReply, await runtime.ask(at, "cancel", { reason }));
      if (reply.outcome === "unknown") throw notFound();
      if (reply.outcome === "already_terminal") {
        throw new Problem("execution_already_terminal", "The execution has already ended", { status: reply.status });
      }
      const { execution_id, cancelled_at } = reply;
      return { status: "cancelled", success: true, execution_id, reason: reply.reason, cancelled_at } as const;
    },

    /** Cancels it if need be, then removes its record, its events and its workspace. */
    async erase({ at }: Pick<Found, "at">) {
      await runtime.ask(at, "erase", {});
      return { status: "deleted", success: true, execution_id: at.key } as const;
    },

    /** For `agents`: executions the tenant ran of each. */
    countByAgent: records.countByAgent,

    cancelOfAgent,
  };
}

const subject = ({ key, tenant }: Address) => ({ execution_id: key, tenant_id: tenant });

function notFound(): Problem {
  return new Problem("execution_not_found", "Execution not found");
}

/** @throws Problem 422 */
function readFilter(filter: ExecutionFilter): ListFilter {
  const statuses = filter.status?.split(",").map((status) => status.trim()) ?? null;
  const unknown = statuses?.find((status) => !Value.Check(Status, status));
  if (unknown !== undefined) throw unreadable("status", `${unknown} is not a status`);
  return {
    agentId: filter.agent_id ?? null,
    statuses,
    workflowName: filter.workflow_name ?? null,
    workflowExecutionId: filter.workflow_execution_id ?? null,
    parentExecutionId: filter.parent_execution_id ?? null,
    labels: Object.fromEntries((filter.label ?? []).map(readLabel)),
    startedAfter: readTime("started_after", filter.started_after),
    startedBefore: readTime("started_before", filter.started_before),
  };
}

function readLabel(label: string): [key: string, value: string] {
  const split = label.indexOf("=");
  if (split <= 0) throw unreadable("label", "must be key=value");
  return [label.slice(0, split), label.slice(split + 1)];
}

function readTime(path: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const time = new Date(text);
  const year = time.getUTCFullYear();
  if (Number.isNaN(year) || year < 0 || year > 9999) throw unreadable(path, "must be a timestamp");
  return time;
}

const unreadable = (path: string, message: string): Problem =>
  invalid("validation_failed", "The request is invalid", [{ path, message, code: "invalid" }]);
