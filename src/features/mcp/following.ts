/** Work that a call waits for: what it tells on its way, and how it ended. */
import { eventName, isTerminal as isLastEvent } from "../../../actors/execution/events.ts";
import { execution } from "../../../actors/execution/execution.ts";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { workflowRun } from "../../../actors/workflow/run/run.ts";
import type { LogEntry, Runtime } from "../../runtime/port.ts";
import type { Executions } from "../executions/port.ts";
import type { Runs } from "../workflows/runs/feature.ts";

/** How something that was started stands. */
export interface Standing {
  readonly isOver: boolean;
  /** Whether it ended well. */
  readonly isGood: boolean;
  /** Told to the client. */
  readonly body: { readonly [member: string]: Json };
}

/** What is started by a tool: executions of agents, or runs of workflows. */
export interface Work {
  /** What permits a caller to cancel it. */
  readonly cancelScope: string;
  /**
   * Resolves when it is over or the signal is aborted; never rejects.
   * @param tell a line of what happens
   */
  follow(tenant: string, id: string, tell: (line: string) => void, signal: AbortSignal): Promise<void>;
  standing(tenant: string, id: string): Promise<Standing>;
  /** Nothing is done where it has ended. */
  cancel(tenant: string, id: string, reason: string): Promise<void>;
}

/** The part of an actor's handle that is followed. */
interface Tailed {
  tail(after: number, listener: (entries: readonly LogEntry[], ended: boolean) => void): () => void;
}

function followed(
  actor: Tailed,
  lineOf: (entry: LogEntry) => string | null,
  isLast: (entry: LogEntry) => boolean,
  tell: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener("abort", done);
      stop();
      resolve();
    };
    const stop = actor.tail(0, (entries, ended) => {
      for (const entry of entries) {
        const line = lineOf(entry);
        if (line !== null) tell(line);
      }
      if (ended || entries.some(isLast)) done();
    });
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}

export interface AgentWorkOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly executions: Pick<Executions, "find" | "record" | "cancel">;
}

/** Executions of agents. */
export function agentWork({ runtime, executions }: AgentWorkOptions): Work {
  const never = new AbortController().signal;
  return {
    cancelScope: "execution:cancel",
    follow: (tenant, id, tell, signal) =>
      followed(runtime.of(execution).at(tenant, id), eventLine, ({ entry }) => isLastEvent(entry), tell, signal),
    async standing(tenant, id) {
      const record = await executions.record(await executions.find(tenant, id), false, 0, never);
      const { execution_id, agent_name, status, output, error, error_code } = record;
      const isOver = record.ended_at !== null;
      const body = isOver ? { execution_id, agent_name, status, output, error, error_code } : { execution_id, status };
      return { isOver, isGood: status === "completed", body };
    },
    async cancel(tenant, id, reason) {
      await executions.cancel(await executions.find(tenant, id), reason);
    },
  };
}

/** Console output is not told: it may be megabytes, and the file of a finished execution has it. */
const untold = new Set(["console_output", "rate_limit_warning"]);

/** The event's name in words, and the tool it is about. */
function eventLine({ entry }: LogEntry): string | null {
  const name = eventName(entry);
  if (untold.has(name) || !isObject(entry)) return null;
  const body = entry[name];
  const { tool_name = null, iteration_number = null } = isObject(body) ? body : {};
  const within = typeof iteration_number === "number" ? `iteration ${iteration_number}: ` : "";
  const about = typeof tool_name === "string" ? ` ${tool_name}` : "";
  return `${within}${name.replaceAll("_", " ")}${about}`;
}

export interface RunWorkOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly runs: Pick<Runs, "find" | "record" | "cancel">;
  readonly isLast: (entry: LogEntry) => boolean;
}

/** Runs of workflows. */
export function runWork({ runtime, runs, isLast }: RunWorkOptions): Work {
  return {
    cancelScope: "workflow:cancel",
    follow: (tenant, id, tell, signal) =>
      followed(runtime.of(workflowRun).at(tenant, id), messageOf, isLast, tell, signal),
    async standing(tenant, id) {
      const { execution_id, workflow_name, status, final_output, error, error_code, ended_at } = await runs.record(
        tenant,
        id,
      );
      const isOver = ended_at !== null;
      const body = isOver
        ? { execution_id, workflow_name, status, final_output, error, error_code }
        : { execution_id, status };
      return { isOver, isGood: status === "completed", body };
    },
    async cancel(tenant, id, reason) {
      await runs.cancel(await runs.find(tenant, id), reason);
    },
  };
}

function messageOf({ entry }: LogEntry): string | null {
  const message = isObject(entry) ? entry.message : null;
  return typeof message === "string" ? message : null;
}
